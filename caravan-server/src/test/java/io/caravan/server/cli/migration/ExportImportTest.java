package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.Migrations;
import io.caravan.server.cli.client.ServedStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.commands.ProtocolCommand;

/** Tests documents that are exported to a file and imported into another server. */
@Execution(ExecutionMode.CONCURRENT)
class ExportImportTest {
    private static final String LONG_VALUE = "long value ".repeat(20_000);

    private static final byte[] PRODUCERS = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, (byte) 0xFF, 0, 1, 'p'};

    @TempDir
    private Path directory;

    @AutoClose
    private final ServedStore from = new ServedStore();

    @AutoClose
    private final ServedStore to = new ServedStore();

    private static CommandRun ok(ServedStore served, String... words) {
        return CommandRun.of(served, words).succeeds();
    }

    private static CommandRun importing(ServedStore served, byte[] export, String... options) {
        return CommandRun.with(Map.of(), export).run(served.address(), CommandRun.words(List.of("import"), options));
    }

    private String path(String file) {
        return directory.resolve(file).toString();
    }

    /** Creates a document whose first values are trimmed, a long document, an empty one, and a binary one. */
    private void fill() {
        ok(from, "append", "letters/1", "Dear Ada,", "how are you?", "Yours \u00e4\ud83d\ude00");
        ok(from, "trim", "letters/1", "--to", "1");
        for (int i = 0; i < 12; i++) {
            ok(from, "append", "letters/long", i + LONG_VALUE, "", "short");
        }
        ok(from, "append", "letters/empty", "gone");
        ok(from, "trim", "letters/empty", "--to", "1");
        CommandRun.with(Map.of(), new byte[] {0, (byte) 0xFF, 10})
                .run(from.address(), "append", "pictures")
                .exits(0);
    }

    private static String document(ServedStore served, String name) {
        return ok(served, "export", name).out();
    }

    private void same(String... names) {
        for (String name : names) {
            assertThat(document(to, name)).isEqualTo(document(from, name));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"all.export", "all.export.gz", "all.export.zst"})
    void exportsAndImportsAllDocuments(String file) throws IOException {
        fill();
        assertThat(ok(from, "export", "--out", path(file)).out())
                .isEqualTo("exported 4 documents, 39 values, 2.5 MiB to " + path(file) + "\n");
        assertThat(ok(to, "import", path(file)).out()).isEqualTo("imported 4 documents, 39 values, 2.5 MiB\n");
        same("letters/1", "letters/long", "letters/empty", "pictures");
        assertThat(ok(to, "append", "letters/1", "on").out()).isEqualTo("first 3, next 4\n");
        assertThat(ok(to, "append", "letters/empty", "on").out()).isEqualTo("first 1, next 2\n");
        try (var files = Files.list(directory)) {
            assertThat(files).containsExactly(directory.resolve(file));
        }
    }

    @Test
    void exportWritesRespRecords() {
        ok(from, "append", "a", "one", "tw\"o");
        assertThat(document(from, "a").replaceAll("\\$[0-9]+\r\n", "").replace("\r\n", " "))
                .matches("\\*2 caravan-export 1 \\*4 document a 0 2 \\*2 value one \\*2 value tw\"o"
                        + " \\*2 documentEnd [0-9a-f]{8} \\*2 end [0-9a-f]{8} ");
        CommandRun.of(from, "export", "absent").exits(3, "there is no document 'absent'");
        CommandRun.of(from, "export", "a", "--prefix", "b").exits(2, "exclude each other");
    }

    @Test
    void exportsOnlyDocumentsWithPrefix() {
        for (String name : List.of("a*/1", "a*/2", "ab/3", "a*")) {
            ok(from, "append", name, "v");
        }
        assertThat(ok(from, "export", "--prefix", "a*/", "--out", path("p"), "--json")
                        .out())
                .startsWith("{\"documents\":2,\"values\":2,\"bytes\":2,\"file\":");
    }

    /** Returns the export of one document. */
    private static byte[] export(Map<String, Object> attributes, String name, long first, String... values) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] raw = name.getBytes(UTF_8);
        Description document = new Description(0, first, first + values.length, -1, attributes);
        try {
            ExportWriter writer = new ExportWriter(out);
            writer.begin(raw, document);
            for (String value : values) {
                writer.value(value.getBytes(UTF_8));
            }
            writer.end();
            writer.finish();
        } catch (IOException impossible) {
            throw new AssertionError(impossible);
        }
        return out.toByteArray();
    }

    @Test
    void importKeepsAttributesAndSkipsExpired() {
        Map<String, Object> attributes = new TreeMap<>(Map.of(
                "closed", "p".getBytes(UTF_8),
                "content-type", "application/json".getBytes(UTF_8),
                "producers", PRODUCERS,
                "stream-seq", "x".getBytes(UTF_8),
                "ttl", 600L));
        byte[] export = export(attributes, "d", 5, "{}");
        assertThat(importing(to, export).err()).isEmpty();
        try (DocumentClient client = Migrations.carrier(to.address())) {
            Description found = client.descriptionOf("d".getBytes(UTF_8));
            assertThat(found.first()).isEqualTo(5);
            assertThat(found.attributes().keySet()).isEqualTo(attributes.keySet());
            attributes.forEach((key, value) ->
                    assertThat(Description.encoded(found.attributes().get(key))).isEqualTo(Description.encoded(value)));
        }
        byte[] past = export(Map.of("expires", 1L), "past", 0, "v");
        assertThat(importing(to, past).out()).isEqualTo("imported 0 documents, 0 values, 0 B; 1 had expired\n");
    }

    @ParameterizedTest
    @ValueSource(longs = {999_999_999_999_999_999L, 1_000_000_000_000_000_000L, Long.MAX_VALUE})
    void documentMayExpireAtAnyTime(long millis) {
        ok(from, "append", "d", "v");
        ok(from, "append", "other", "v");
        try (Jedis client = from.jedis()) {
            assertThat(client.pexpireAt("d", millis)).isOne();
        }
        assertThat(ok(from, "stat", "d").out()).contains("expires-at-ms: " + millis + "\n");
        ok(from, "export", "--out", path("all"));
        assertThat(ok(to, "import", path("all")).out()).startsWith("imported 2 documents");
        same("d", "other");
        assertThat(ok(from, "copy", "--to", to.address(), "--json").out()).contains("\"already\":2,");
        ok(from, "move", "--prefix", "", "--to", to.address());
        assertThat(ok(to, "stat", "d").out()).contains("expires-at-ms: " + millis + "\n");
    }

    @Test
    void importRejectsNumberAboveLong() {
        byte[] export = new String(export(Map.of("expires", Long.MAX_VALUE), "d", 0), UTF_8)
                .replace(String.valueOf(Long.MAX_VALUE), "9223372036854775808")
                .getBytes(UTF_8);
        importing(to, export).exits(1, "the export is damaged", "has a number that is none");
    }

    @Test
    void existingDocumentIsRejectedSkippedOrReplaced() {
        fill();
        byte[] export = ok(from, "export").outBytes();
        ok(to, "append", "letters/1", "other");
        ok(to, "append", "letters/long", "other");
        CommandRun rejected = importing(to, export);
        rejected.exits(3, "document 'letters/1' was not imported: document 'letters/1' exists");
        rejected.exits(3, "document 'letters/long' was not imported: document 'letters/long' exists");
        assertThat(rejected.out()).isEqualTo("imported 2 documents, 1 value, 3 B; 2 rejected\n");
        same("letters/empty", "pictures");
        CommandRun skipped = importing(to, export, "--existing", "skip").exits(0);
        assertThat(skipped.out()).isEqualTo("imported 0 documents, 0 values, 0 B; 2 were there already; 2 skipped\n");
        CommandRun resumed = importing(to, export, "--json");
        assertThat(resumed.out()).contains("\"documents\":0,", "\"already\":2,", "\"rejected\":2}");
        assertThat(ok(to, "get", "letters/1").out()).isEqualTo("other\n");
        CommandRun replaced = importing(to, export, "--existing", "replace");
        assertThat(replaced.out()).isEqualTo("imported 4 documents, 39 values, 2.5 MiB\n");
        same("letters/1", "letters/long", "letters/empty", "pictures");
        assertThat(importing(to, export).out())
                .isEqualTo("imported 0 documents, 0 values, 0 B; 4 were there already\n");
    }

    /** A document must be replaced only once the entire import is complete, so that a truncated file does no damage. */
    @Test
    void documentIsReplacedOnlyByCompleteImport() {
        fill();
        byte[] export = ok(from, "export", "letters/long").outBytes();
        ok(to, "append", "letters/long", "other");
        CommandRun cut = importing(to, Arrays.copyOf(export, export.length * 3 / 4), "--existing", "replace");
        cut.exits(1, "cut off");
        assertThat(ok(to, "get", "letters/long").out()).isEqualTo("other\n");
        ok(to, "append", "letters/long", "more");
        importing(to, export, "--existing", "replace").exits(0);
        same("letters/long");
        ok(to, "append", "letters/long", "on");
        to.stop();
        assertThatCode(to::start).doesNotThrowAnyException();
        assertThat(ok(to, "get", "letters/long").out()).endsWith("on\n");
        try (Jedis client = to.jedis()) {
            assertThat(client.dbSize()).isEqualTo(1);
        }
    }

    /** The old document must be kept if the space rejects a value after part of the new document has been imported. */
    @Test
    void documentIsKeptIfSpaceRejectsReplacement() {
        fill();
        byte[] export = ok(from, "export", "letters/long").outBytes();
        ok(to, "append", "letters/long", "other");
        try (Jedis client = to.jedis()) {
            ProtocolCommand space = () -> "CARAVAN.SPACE".getBytes(UTF_8);
            client.sendCommand(space, "SET", "letters/", "max-bytes", "1500000");
            importing(to, export, "--existing", "replace").exits(3, "max-bytes");
            assertThat(ok(to, "get", "letters/long").out()).isEqualTo("other\n");
            // The old and the new document coexist for a moment. Afterward, the quota must count only the new one.
            client.sendCommand(space, "SET", "letters/", "max-bytes", "15000000", "quota-bytes", "3000000");
            importing(to, export, "--existing", "replace").exits(0);
            same("letters/long");
            // The space rejects the replacement, but the document is already the same.
            assertThat(importing(to, export, "--existing", "replace").exits(0).out())
                    .contains("1 were there already");
            ok(to, "rm", "letters/long");
            importing(to, export).exits(0);
            same("letters/long");
        }
    }

    /** A truncated or changed export must make the import fail. Only documents before the fault are imported. */
    @Test
    void importRejectsTruncatedOrAlteredExport() {
        ok(from, "append", "a", "one", "two");
        ok(from, "append", "b", "three");
        String export = ok(from, "export").out();
        List<String> records = List.of(export.split("(?=\\*)"));
        assertThat(records).hasSize(9);
        for (int i = 0; i < records.size(); i++) {
            importing(to, bytes(String.join("", records.subList(0, i)))).exits(1, "the export is cut off at byte ");
            List<String> cut = new ArrayList<>(records);
            cut.remove(i);
            importing(to, bytes(String.join("", cut))).exits(1, "export");
        }
        for (int length = 0; length < export.length(); length++) {
            importing(to, bytes(export.substring(0, length))).exits(1, "cut off at byte ");
        }
        for (String[] change : new String[][] {
            {"one", "0ne"},
            {"\r\n0\r\n", "\r\n1\r\n"},
            {"\r\n1\r\n", "\r\n2\r\n"},
            {"end", "nde"},
            {"three", "throe"},
            {"value", "valve"},
            {"documentEnd", "documentend"}
        }) {
            importing(to, bytes(export.replaceFirst(change[0], change[1]))).exits(1, "export");
        }
        importing(to, bytes(export + "{}")).exits(1, "does not end after its last record");
        importing(to, bytes(export)).exits(0);
        same("a", "b");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    @Test
    void failedExportWithoutDocumentsLeavesNoFile() throws IOException {
        ok(from, "append", "a", "one");
        CommandRun.of(from, "export", "absent", "--out", path("x")).exits(3, "there is no document 'absent'");
        assertThat(directory).isEmptyDirectory();
        ok(from, "export", "a", "--out", path("x"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x.gz", "x.zst"})
    void importReportsCompressedExportThatIsCutAnywhere(String file) throws IOException {
        ok(from, "append", "a", "one");
        ok(from, "export", "a", "--out", path(file));
        byte[] whole = Files.readAllBytes(directory.resolve(file));
        for (int length = 4; length < whole.length; length++) {
            Files.write(directory.resolve("cut"), Arrays.copyOf(whole, length));
            CommandRun run = CommandRun.of(to, "import", path("cut")).exits(1, "the export is ");
            assertThat(run.err()).doesNotContain("null");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "garbage", "*1\r\n$1\r\nx\r\n"})
    void importRejectsTextAfterLastRecord(String more) throws IOException {
        ok(from, "append", "a", "one");
        Files.writeString(directory.resolve("x"), document(from, "a") + more);
        CommandRun run = CommandRun.of(to, "import", path("x")).exits(1, "the export is damaged", "at byte ");
        assertThat(run.err()).hasLineCount(1).doesNotContain("\\n");
        same("a");
    }

    /** Two exports to the same file must not disturb each other; the first one to end gets the name. */
    @Test
    void concurrentExportsToSameFileAreIndependent() throws IOException {
        Path file = directory.resolve("x.zst");
        try (ExportFile first = new ExportFile(file);
                ExportFile second = new ExportFile(file)) {
            new ExportWriter(second.out()).finish();
            new ExportWriter(first.out()).finish();
            first.finish();
            assertThatThrownBy(second::finish).hasMessageContaining("exists, and is not overwritten");
        }
        assertThat(directory.toFile().list()).containsExactly("x.zst");
        CommandRun imported = CommandRun.of(to, "import", file.toString());
        assertThat(imported.out()).startsWith("imported 0 documents");
    }

    @Test
    void fileCreatedDuringExportIsNotOverwritten() throws IOException {
        Path file = directory.resolve("x");
        try (ExportFile export = new ExportFile(file)) {
            Files.writeString(file, "theirs");
            assertThatThrownBy(export::finish).hasMessageContaining("is not overwritten");
        }
        assertThat(file).hasContent("theirs");
    }

    @Test
    void importRejectsFilesThatAreNotExports() throws IOException {
        for (String other :
                List.of("{}", "hello", "[1]", "2026-11-27 12:00", "*2\r\n$14\r\ncaravan-expert", "\0\0\0\1")) {
            Files.writeString(directory.resolve("x"), other);
            CommandRun run = CommandRun.of(to, "import", path("x"));
            run.exits(1, "this is not an export of caravan: expected a file that 'caravan export' has made");
            assertThat(run.err()).doesNotContain("oken", "ield");
        }
        CommandRun.of(to, "import", path("absent")).exits(1, "there is no file");
        importing(to, new byte[0]).exits(1, "the export is cut off");
    }

    @Test
    void copiesDocumentsBetweenServers() {
        fill();
        String[] all = {"copy", "--to", to.address()};
        assertThat(ok(from, "copy", "letters/1", "--to", to.address()).out())
                .isEqualTo("copied 1 document, 2 values, 24 B\n");
        ok(to, "append", "letters/1", "other");
        CommandRun rest = CommandRun.of(from, all);
        rest.exits(3, "document 'letters/1' was not imported: document 'letters/1' exists");
        assertThat(rest.out()).isEqualTo("copied 3 documents, 37 values, 2.5 MiB; 1 rejected\n");
        same("letters/long", "letters/empty", "pictures");
        ok(to, "rm", "letters/1");
        ok(from, "copy", "letters/1", "--to", to.address());
        assertThat(ok(from, "copy", "--to", to.address(), "--json").out())
                .isEqualTo("{\"documents\":0,\"values\":0,\"bytes\":0,\"already\":4,\"skipped\":0,\"expired\":0,"
                        + "\"rejected\":0}\n");
        ok(to, "append", "letters/1", "other");
        assertThat(ok(from, "copy", "--prefix", "letters/", "--to", to.address(), "--existing", "replace")
                        .out())
                .startsWith("copied 3 documents, 38 values, 2.5 MiB");
        same("letters/1", "letters/long", "letters/empty");
        CommandRun.of(from, "copy", "absent", "--to", to.address()).exits(3, "there is no document 'absent'");
        CommandRun.of(from, "copy", "a", "--prefix", "b", "--to", to.address()).exits(2, "exclude each other");
        CommandRun.of(from, "copy", "a", "--to", to.address(), "--to-user", "mover")
                .exits(2, "--to-user needs a password: set CARAVAN_TO_PASSWORD, or give --to-password-file FILE");
    }
}
