package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.testing.FreePorts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;

/** Tests the output and exit codes of the client commands when run against a server. */
class ClientCommandsTest {
    private static final ObjectMapper JSON = new ObjectMapper()
            .enable(DeserializationFeature.USE_LONG_FOR_INTS, DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    @TempDir
    private Path directory;

    @AutoClose
    private final ServedStore served = new ServedStore();

    private CommandRun run(String... words) {
        return CommandRun.of(served, words);
    }

    private CommandRun runWithInput(byte[] in, String... words) {
        return CommandRun.with(Map.of(), in).run(served.address(), words);
    }

    private void prints(String expected, String... words) {
        run(words).prints(expected);
    }

    private void fails(int exitCode, String part, String... words) {
        CommandRun run = run(words);
        assertThat(run.err()).startsWith("caravan: ").contains(part);
        assertThat(run.err().lines()).hasSize(1);
        assertThat(run.exitCode()).isEqualTo(exitCode);
    }

    /** Runs a command, and returns the fields of each output line, which must be a JSON object. */
    private List<Map<String, Object>> json(String... words) throws IOException {
        List<Map<String, Object>> objects = new ArrayList<>();
        for (String line : run(words).succeeds().out().split("\n")) {
            objects.add(JSON.readValue(line, new TypeReference<>() {}));
        }
        return objects;
    }

    @Test
    void reportsThatAddressSpeaksHttp() throws IOException {
        served.stop();
        served.start(FreePorts.next());
        CommandRun run =
                CommandRun.at("127.0.0.1:" + served.httpPort(), "stat", "d").exits(1);
        assertThat(run.err()).contains("speaks HTTP").contains("6380");
    }

    @Test
    void appendPrintsSequencesOfValues() throws IOException {
        prints("first 0, next 2\n", "append", "d", "a", "b");
        prints("first 2, next 3\n", "append", "d", "");
        run("trim", "d", "--to", "2");
        prints("first 3, next 4\n", "append", "d", "c");
        assertThat(json("append", "d", "x", "y", "--json"))
                .containsExactly(Map.of("first", 4L, "next", 6L, "values", 2L));
        prints("\nc\nx\ny\n", "get", "d");
    }

    @Test
    void conditionalAppendRejectsWrongSequence() {
        prints("first 0, next 1\n", "append", "d", "--if-sequence", "0", "a");
        fails(3, "the next sequence is another one: expected 0 actual 1", "append", "d", "--if-sequence", "0", "a");
        prints("first 1, next 2\n", "append", "d", "b", "--if-sequence", "1");
        prints("a\nb\n", "get", "d");
    }

    @Test
    void appendStoresInputAsOneValue() {
        byte[] bytes = {0, 'a', '\n', (byte) 0xFF, '\r', '\n'};
        assertThat(runWithInput(bytes, "append", "d").out()).isEqualTo("first 0, next 1\n");
        assertThat(run("get", "d", "--raw", "--from", "0").outBytes()).isEqualTo(bytes);
        assertThat(run("get", "d", "--count", "1", "--raw").outBytes()).isEqualTo(bytes);
    }

    @Test
    void emptyInputAppendsNothingButEmptyWordAppendsEmptyValue() {
        CommandRun empty = run("append", "d").exits(2);
        assertThat(empty.err())
                .startsWith("caravan: the standard input is empty, so nothing is appended; give an empty value as ''");
        fails(3, "there is no document 'd'", "stat", "d");
        prints("first 0, next 1\n", "append", "d", "");
        prints("\n", "get", "d");
    }

    @Test
    void appendErrorDoesNotMentionTransaction() {
        try (Jedis client = served.jedis()) {
            String[] creation = {"j", "WHOLE", "0", "ATTRIBUTE", "content-type", "application/json"};
            client.sendCommand(() -> "CARAVAN.IMPORT".getBytes(UTF_8), creation);
        }
        CommandRun rejected = run("append", "j", "no JSON").exits(1);
        assertThat(rejected.err())
                .startsWith("caravan: ")
                .contains("accepts only JSON")
                .doesNotContain("transaction");
    }

    @Test
    void appendsManyLines() throws IOException {
        List<String> lines = LongStream.range(0, 20_000)
                .mapToObj(i -> i % 7 == 0 ? "" : "line " + i)
                .toList();
        byte[] input = (String.join("\n", lines) + "\n").getBytes(UTF_8);
        runWithInput(input, "append", "d", "--lines").prints("first 0, next 20000\n");
        assertThat(run("get", "d").out()).isEqualTo(String.join("\n", lines) + "\n");
        assertThat(json("get", "d", "--from", "19998", "--count", "1", "--json"))
                .containsExactly(Map.of("sequence", 19_998L, "value", "line 19998"));
    }

    @Test
    void conditionalAppendAcceptsManyLines() {
        byte[] lines = "x\n".repeat(10_000).getBytes(UTF_8);
        assertThat(runWithInput(lines, "append", "d", "--lines", "--if-sequence", "0")
                        .out())
                .isEqualTo("first 0, next 10000\n");
        CommandRun second = runWithInput(lines, "append", "d", "--lines", "--if-sequence", "0")
                .exits(3);
        assertThat(second.out()).isEmpty();
    }

    @Test
    void sendsLinesBeforeReadingMoreInput() throws IOException {
        List<String> seen = new ArrayList<>();
        InputStream quiet = new InputStream() {
            private final Iterator<String> blocks = List.of("a\nb\nhal", "f\n").iterator();

            @Override
            public int read() {
                throw new UnsupportedOperationException("lines are read in blocks");
            }

            @Override
            public int read(byte[] bytes, int offset, int length) {
                seen.add(run("get", "d").out());
                if (!blocks.hasNext()) {
                    return -1;
                }
                byte[] block = blocks.next().getBytes(UTF_8);
                System.arraycopy(block, 0, bytes, offset, block.length);
                return block.length;
            }
        };
        CommandRun run = CommandRun.with(quiet).run(served.address(), "append", "d", "--lines");
        assertThat(run.out()).isEqualTo("first 0, next 3\n");
        assertThat(seen).containsExactly("", "a\nb\n", "a\nb\nhalf\n");
    }

    @Test
    void failedAppendReportsAppendedValues() {
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        lines.writeBytes("x\n".repeat(5_000).getBytes(UTF_8));
        lines.writeBytes(new byte[2 * 1024 * 1024]);
        CommandRun run = runWithInput(lines.toByteArray(), "append", "d", "--lines")
                .exits(1, "5000 values were appended, the last one as sequence 4999");
        assertThat(run("stat", "d").out()).contains("next: 5000\n");
    }

    @Test
    void rejectsInputWithoutLines() {
        fails(2, "the input has no lines", "append", "d", "--lines");
        fails(3, "there is no document 'd'", "stat", "d");
    }

    @Test
    void escapesControlCharactersInMessages() {
        fails(
                3,
                "there is no document 'd\\ncaravan: all is well\\u001b[2K'",
                "stat",
                "d\ncaravan: all is well\u001b[2K");
        fails(3, "there is no document 'd\\re'", "rm", "d\re");
    }

    @Test
    void reportsMissingFile() {
        String file = directory.resolve("absent").toString();
        fails(1, "there is no file '" + file + "'", "import", file);
    }

    @Test
    void getPrintsNonTextBytesAsBase64() throws IOException {
        byte[] noText = {(byte) 0xC3, 0x28};
        runWithInput(noText, "append", "d");
        run("append", "d", "\"ü\"\n");
        assertThat(json("get", "d", "--json"))
                .containsExactly(
                        Map.of("sequence", 0L, "base64", Base64.getEncoder().encodeToString(noText)),
                        Map.of("sequence", 1L, "value", "\"ü\"\n"));
    }

    @Test
    void getFailsOnFullDiskButNotOnBrokenPipe() {
        run("append", "d", "x".repeat(100_000));
        assertThat(CommandRun.withBrokenOutput("Broken pipe")
                        .run(served.address(), "get", "d")
                        .exits(0)
                        .err())
                .isEmpty();
        CommandRun.withBrokenOutput("No space left on device")
                .run(served.address(), "get", "d")
                .exits(1, "caravan: the output cannot be written: No space left on device");
    }

    @Test
    void importKeepsExitCodeOnBrokenPipe() throws IOException {
        runWithInput("1\n".getBytes(UTF_8), "append", "d", "--lines");
        Path export = directory.resolve("export");
        run("export", "--out", export.toString());
        run("append", "d", "2");
        CommandRun.withBrokenOutput("Broken pipe")
                .run(served.address(), "import", export.toString())
                .exits(3);
    }

    @Test
    void getPrintsRanges() {
        byte[] lines = LongStream.range(0, 1_000)
                .mapToObj(Long::toString)
                .collect(Collectors.joining("\n"))
                .getBytes(UTF_8);
        runWithInput(lines, "append", "d", "--lines");
        run("trim", "d", "--to", "100");
        prints("100\n101\n", "get", "d", "--count", "2");
        prints("998\n999\n", "get", "d", "--from", "998", "--count", "5");
        prints("", "get", "d", "--from", "1000");
        assertThat(run("get", "d", "--from", "483").out().lines())
                .hasSize(517)
                .startsWith("483")
                .endsWith("999");
        fails(3, "retains those from 100 up to, not including, 1000", "get", "d", "--from", "99");
        fails(3, "retains those from 100 up to, not including, 1000", "get", "d", "--from", "1001");
        fails(3, "there is no document 'e'", "get", "e");
    }

    @Test
    void trimKeepsRequestedValues() throws IOException {
        run("append", "d", "a", "b", "c", "d");
        prints("first 1\n", "trim", "d", "--to", "1");
        prints("first 1\n", "trim", "d", "--keep", "3");
        prints("first 2\n", "trim", "d", "--keep", "2");
        prints("first 2\n", "trim", "d", "--keep", "200");
        assertThat(json("trim", "d", "--keep", "0", "--json")).containsExactly(Map.of("first", 4L));
        prints("", "get", "d");
        fails(3, "there is no document 'e'", "trim", "e", "--to", "1");
        fails(3, "there is no document 'e'", "trim", "e", "--keep", "1");
    }

    @Test
    void rmPrintsNumberOfDeletedDocuments() throws IOException {
        run("append", "d", "a");
        run("append", "emptied", "a");
        run("trim", "emptied", "--to", "1");
        prints("deleted 2\n", "rm", "d", "emptied", "d");
        run("append", "d", "a");
        fails(3, "there is no document 'e', 'f'", "rm", "e", "d", "f");
        prints("", "ls");
    }

    @Test
    void lsListsMatchingNames() throws IOException {
        for (int i = 0; i < 30; i++) {
            run("append", "letters/" + i, "v");
        }
        run("append", "größe", "v");
        assertThat(run("ls").out().lines()).hasSize(31).contains("größe", "letters/29");
        assertThat(run("ls", "--match", "letters/2?").out().lines())
                .hasSize(10)
                .allMatch(n -> n.startsWith("letters/2"));
        prints("", "ls", "--match", "none");
        assertThat(json("ls", "--match", "gr*", "--json")).containsExactly(Map.of("name", "größe"));
    }

    @Test
    void statPrintsDocumentAttributes() throws IOException {
        run("append", "d", "a", "bc");
        assertThat(run("stat", "d").out())
                .startsWith("id: 1\nfirst: 0\nnext: 2\nvalues: 2\nbytes: 3\n")
                .contains("\nexpires-at-ms: none\n");
        assertThat(json("stat", "d", "--json").get(0))
                .containsEntry("name", "d")
                .containsEntry("next", 2L)
                .containsEntry("closed", false)
                .containsEntry("ttl-seconds", null);
    }

    @Test
    void statPrintsAllServerStatistics() throws IOException {
        run("append", "d", "a");
        assertThat(run("stat").out()).contains("# Server\n", "\ndurability: memory\n", "\ndocuments: 1\n");
        Map<String, Object> sections = json("stat", "--json").get(0);
        assertThat(sections.get("keyspace")).asString().contains("documents=1");
        assertThat(sections.get("server")).asString().contains("redis_version=7.0.0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        append                      | NAME
        append d v --lines          | VALUE and --lines exclude each other
        append d v --if-sequence -1 | --if-sequence must be at least 0
        get d --count 0             | --count must be at least 1
        get d --raw --json          | --raw and --json exclude each other
        tail d --from then          | is not a long
        trim d                      | --to
        trim d --to 1 --keep 1      | mutually exclusive
        rm                          | NAME
        archive                     | give NAME for a running server to archive, or a subcommand: ls, verify or prune
        stat --timeout 0            | --timeout must be from 1 to 3600 seconds
        stat --user u               | --user needs a password
        """)
    void reportsInvalidArgumentsAsUsageError(String words, String part) {
        CommandRun run = run(words.split(" ")).exits(2, part);
        assertThat(run.out()).isEmpty();
    }
}
