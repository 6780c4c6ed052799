package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.WriteCallback;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentEdit;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.Edit;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.config.Version;
import io.caravan.server.document.DocumentService;
import io.caravan.testing.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the {@code verify} command, and the messages and exit codes of failing commands. */
class MainTest {
    @TempDir
    private Path directory;

    private CommandRun last = CommandRun.with(Map.of(), new byte[0]);

    private CommandRun run(String... arguments) {
        last = CommandRun.at(null, arguments);
        return last;
    }

    private void assertOneLine(String part) {
        assertThat(last.err().lines())
                .hasSize(1)
                .first()
                .asString()
                .startsWith("caravan: ")
                .contains(part);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "serve", "verify", "repair", "salvage", "dump", "log"})
    void everyStoreCommandPrintsVersion(String command) {
        String[] words = command.isEmpty() ? new String[] {"-V"} : new String[] {command, "-V"};
        run(words).exits(0);
        assertThat(last.out()).isEqualTo("caravan " + Version.current() + System.lineSeparator());
    }

    @Test
    void escapesControlCharactersInMessages() {
        assertThat(run("verify", "no-such\ncaravan: all is well\u001b[2K").exitCode())
                .isNotZero();
        assertOneLine("no-such\\ncaravan: all is well\\u001b[2K");
        run("serve", "--resp", "a\nb").exits(2);
        assertOneLine("'a\\nb'");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --resp | 6380          | is not HOST:PORT
        --resp | host:         | is not HOST:PORT
        --resp | ::1:80        | is not HOST:PORT
        --resp | 127.0.0.1:65536 | is not HOST:PORT
        --resp | 0.0.0.0:6380  | --resp 0.0.0.0:6380 can be reached from other machines
        --http | 0.0.0.0:4437  | --http 0.0.0.0:4437 can be reached from other machines
        --max-value | 1KiB     | from 64KiB to just under 32MiB
        --max-value | lots     | is not a size
        --durability | perhaps | expected one of
        --flush-policy | 5 days | is not immediate, adaptive, or a delay
        --flush-policy | 61s   | over one minute
        --nonsense | x         | Unknown option
        """)
    void reportsInvalidOptionAsUsageError(String option, String value, String part) {
        run("serve", "--data", directory.resolve("s").toString(), option, value).exits(2);
        assertOneLine(part);
        assertThat(directory.resolve("s")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        srve                      | did you mean 'serve'?
        apend                     | did you mean 'append'?
        gte                       | did you mean 'get'?
        cluster stauts            | did you mean 'status'?
        space sett                | did you mean 'set'?
        serve --rsp 127.0.0.1:1   | did you mean '--resp'?
        serve --htp=127.0.0.1:1   | did you mean '--http'?
        get a --form 3            | did you mean '--from'?
        serve --port 6380         | an address is set with --resp or --http
        serve --port=6380         | an address is set with --resp or --http
        stat -p 6380              | an address is set with --server
        move a --to b:1 --host b   | an address is set with
        cluster demo --port 6380  | did you mean '--ports'?
        """)
    void suggestsCorrectionForMistypedWord(String typed, String advice) {
        run(typed.split(" ")).exits(2);
        assertOneLine(advice);
    }

    @Test
    void suggestsNothingForUnrelatedWord() {
        assertThat(run("zzzzzzzz").exits(2).err()).doesNotContain("did you mean");
        assertThat(run("stat", "-z").exits(2).err()).doesNotContain("did you mean");
    }

    @ParameterizedTest
    @CsvSource({"--resp, --http", "--http, --resp"})
    void reportsPortInUse(String busy, String free) throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + taken.getLocalPort();
            assertCannotListen(address, busy, busy, address, free, "127.0.0.1:0");
        }
    }

    @Test
    void reportsSameAddressForBothProtocols() throws IOException {
        String address = "127.0.0.1:" + FreePorts.next();
        assertCannotListen(address, "--http", "--resp", address, "--http", address);
    }

    @ParameterizedTest
    @ValueSource(strings = {"peer", "resp", "http"})
    void reportsPortInUseOfClusterNode(String busy) throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            StringBuilder cluster = new StringBuilder("cluster = 3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10\n");
            for (String host : List.of("a", "b", "c")) {
                for (String use : List.of("peer", "resp", "http")) {
                    int port = host.equals("a") && use.equals(busy) ? taken.getLocalPort() : FreePorts.next();
                    cluster.append(host + "." + use + " = 127.0.0.1:" + port + "\n");
                }
            }
            Path file = Files.writeString(directory.resolve("cluster"), cluster);
            assertCannotListen(
                    "127.0.0.1:" + taken.getLocalPort(),
                    "--cluster-file",
                    "--cluster-file",
                    file.toString(),
                    "--cluster-node",
                    "a",
                    "--cluster-create");
            Files.delete(file);
        }
    }

    private void assertCannotListen(String address, String option, String... options) throws IOException {
        Path data = directory.resolve("s");
        Path archive = directory.resolve("archive");
        List<String> words =
                new ArrayList<>(List.of("serve", "--data", data.toString(), "--archive", "file:" + archive));
        words.addAll(List.of(options));
        run(words.toArray(String[]::new)).exits(1);
        assertOneLine("cannot listen on " + address);
        assertThat(last.err()).contains("choose another address with " + option + System.lineSeparator());
        assertThat(data).as("tried first").doesNotExist();
        assertThat(archive).doesNotExist();
    }

    @Test
    void reportsStoreAlreadyOpen() {
        ListStore store = SmallFiles.open(directory.resolve("s"));
        try (store) {
            run(
                            "serve",
                            "--archive",
                            "none",
                            "--data",
                            directory.resolve("s").toString(),
                            "--http",
                            "127.0.0.1:0",
                            "--resp",
                            "127.0.0.1:0")
                    .exits(1);
            assertOneLine("already open");
        }
    }

    @Test
    void reportsUnknownHost() {
        run("serve", "--data", directory.toString(), "--resp", "no.such.host.invalid:1")
                .exits(1);
        assertOneLine("'no.such.host.invalid' is not known");
        run("stat", "--server", "no.such.host.invalid:1").exits(1);
        assertOneLine("'no.such.host.invalid' is not known");
    }

    /** The commands in the section on repairs must print the documented output. {@code …} stands for any output. */
    @Test
    void repairSectionPrintsDocumentedOutput() throws IOException {
        try (ListStore store = SmallFiles.open(directory.resolve("letters"))) {
            store.append(1, new byte[1000]).join();
            store.append(2, new byte[10]).join();
        }
        assertPrints("Verify, repair, and salvage", 5);
    }

    @Test
    void fileContentsSectionPrintsDocumentedOutput() throws IOException {
        try (ListStore store = SmallFiles.open(directory.resolve("letters"))) {
            DocumentName name = DocumentName.of("letters/1");
            Catalog catalog = Catalog.open(store, DocumentService.CATALOG_LIST_ID);
            edit(catalog, name, document -> {
                document.attributes(Attributes.EMPTY.with("content-type", "text/plain".getBytes(UTF_8)));
                document.append("Dear Ada,".getBytes(UTF_8));
                document.append("how are you?".getBytes(UTF_8));
            });
            edit(catalog, name, document -> document.trimTo(1).append("Yes!".getBytes(UTF_8)));
        }
        assertPrints("Print the contents of the files", 4);
    }

    private static void edit(Catalog catalog, DocumentName name, Consumer<DocumentEdit> operations) {
        CompletableFuture<Long> durable = new CompletableFuture<>();
        try (Edit edit = catalog.edit(name)) {
            operations.accept(edit.document(name));
            edit.commit(WriteCallback.completing(durable), true);
        }
        durable.join();
    }

    private void assertPrints(String title, int commands) throws IOException {
        String chapter = Files.readString(Path.of("..", "docs", "operate", "repair.md"))
                .split("\n## " + title + "\n")[1]
                .split("\n## ")[0];
        String[] steps = chapter.split("```console\n|```")[1].split("(?m)^\\$ caravan ");
        assertThat(steps).hasSize(commands + 1);
        for (String step : List.of(steps).subList(1, steps.length)) {
            String[] lines = step.split("\n", 2);
            run(inDirectory(lines[0].replaceFirst(" 2>.*", "")).split(" ")).exits(0);
            String pattern = Pattern.quote(inDirectory(lines[1])).replace("…", "\\E.*\\Q");
            assertThat(last.out()).as(lines[0]).matches(Pattern.compile(pattern, Pattern.DOTALL));
        }
    }

    private String inDirectory(String text) {
        return text.replaceAll("(?<![\\w/])(letters|salvaged)\\b(?!/)", directory + "/$1");
    }

    @Test
    void verifyReadsOpenStore() {
        Path data = directory.resolve("s");
        try (ListStore store = SmallFiles.open(data)) {
            store.append(1, new byte[1000]).join();
            run("verify", data.toString(), "--json").exits(0);
        }
        assertThat(last.out()).startsWith("{\"directory\":").contains("\"clean\":true", "\"entries\":1");
        assertThat(last.err()).contains("is open");
    }

    @Test
    void salvageReportsLostEntries() throws IOException {
        Path data = directory.resolve("s");
        Path salvaged = directory.resolve("new");
        try (ListStore store = SmallFiles.open(data)) {
            store.append(1, new byte[1000]).join();
            store.checkpoint();
        }
        run("salvage", data.toString(), salvaged.toString()).exits(0);
        run("verify", salvaged.toString()).exits(0);
        try (var files = Files.list(data)) {
            for (Path file :
                    files.filter(any -> !any.toString().endsWith(".ckp")).toList()) {
                Files.delete(file);
            }
        }
        run("salvage", data.toString(), directory.resolve("more").toString(), "--json")
                .exits(3);
        assertThat(last.out()).contains("\"id\":1,\"first\":0,\"last\":0,\"reason\":", "\"lostEntries\":1");
        run("salvage", data.toString(), salvaged.toString()).exits(1, "not empty");
    }

    @Test
    void repairDryRunReportsIntactStore() {
        Path data = directory.resolve("s");
        SmallFiles.open(data).close();
        run("repair", data.toString(), "--dry-run").exits(0);
        assertThat(last.out()).contains("can be opened as it is");
        run("repair", data.toString()).exits(2);
    }

    @Test
    void verifyDistinguishesCleanFromDamagedStore() throws IOException {
        Path data = directory.resolve("s");
        try (ListStore store = SmallFiles.open(data)) {
            store.append(1, new byte[1000]).join();
        }
        run("verify", data.toString()).exits(0);
        assertThat(last.out()).contains("is clean");
        damageHeap(data);
        run("verify", data.toString()).exits(1);
        assertThat(last.out()).contains("FAULT: ");
    }

    private static void damageHeap(Path data) throws IOException {
        List<Path> heaps;
        try (var files = Files.list(data)) {
            heaps = files.filter(file -> file.getFileName().toString().contains("heap"))
                    .toList();
        }
        assertThat(heaps).isNotEmpty();
        byte[] bytes = Files.readAllBytes(heaps.get(0));
        for (int i = 4096; i < 8192; i++) {
            bytes[i] ^= 0x55;
        }
        Files.write(heaps.get(0), bytes);
    }

    @Test
    void verifyReportsMissingStore() {
        run("verify", directory.resolve("absent").toString()).exits(1);
        assertThat(last.err()).startsWith("caravan: ");
    }

    @Test
    void verifyContinuesAfterMissingShard() throws IOException {
        Path data = directory.resolve("s");
        SmallFiles.make(data, 3);
        Files.move(data.resolve("shard-1"), directory.resolve("elsewhere"));
        run("verify", data.toString()).exits(1, "shard-1");
        assertThat(last.err().lines()).hasSize(1);
        assertThat(last.out()).contains("shard-0 is clean: ", "shard-2 is clean: ");
    }
}
