package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.caravan.ListStore;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.testing.Eventually;
import io.caravan.testing.FreePorts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the environment and the exit codes of commands that run as separate processes. */
@Tag("slow")
@Timeout(180)
class CommandLineIT {
    @TempDir
    private Path directory;

    private static Process start(String server, String... words) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(ServerJvm.command(words));
        builder.environment().putAll(Map.of("CARAVAN_SERVER", server));
        return builder.start();
    }

    private static int exitCode(Process process) throws InterruptedException {
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    @Test
    void terminatedTailExitsWithZero() throws Exception {
        try (ServedStore server = new ServedStore()) {
            CommandRun.of(server, "append", "d", "a", "b");
            Process tail = start(server.address(), "tail", "d", "--from", "0");
            BufferedReader out = tail.inputReader(UTF_8);
            assertThat(out.readLine()).isEqualTo("a");
            assertThat(out.readLine()).isEqualTo("b");
            // SIGTERM instead of SIGINT, because a shell makes background processes, such as this test, ignore SIGINT.
            tail.toHandle().destroy();
            assertThat(exitCode(tail)).isZero();
            assertThat(out.readLine()).isNull();
            assertThat(new String(tail.getErrorStream().readAllBytes(), UTF_8)).isEmpty();
        }
    }

    @Test
    void appendsWholePipeAsOneValue() throws Exception {
        try (ServedStore server = new ServedStore()) {
            Process append = start(server.address(), "append", "d");
            try (OutputStream in = append.getOutputStream()) {
                in.write("a\nb".getBytes(UTF_8));
            }
            assertThat(new String(append.getErrorStream().readAllBytes(), UTF_8))
                    .isEmpty();
            assertThat(exitCode(append)).isZero();
            Process tail = start(server.address(), "tail", "d", "--from", "0", "--json");
            assertThat(tail.inputReader(UTF_8).readLine()).contains("a\\nb");
            tail.toHandle().destroy();
            assertThat(exitCode(tail)).isZero();
        }
    }

    /** Terminates the command once between two samples, and once while it waits for a reply. */
    @Test
    void terminatedTopExitsWithZero() throws Exception {
        try (ServedStore server = new ServedStore()) {
            Process top = start(server.address(), "top", "--json", "--interval", "100ms");
            BufferedReader out = top.inputReader(UTF_8);
            assertThat(out.readLine()).startsWith("{\"at\":");
            top.toHandle().destroy();
            assertThat(exitCode(top)).isZero();
            assertThat(out.lines()).allMatch(line -> line.endsWith("}"));
            assertThat(new String(top.getErrorStream().readAllBytes(), UTF_8)).isEmpty();
        }
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Process top = start("127.0.0.1:" + silent.getLocalPort(), "top");
            try (Socket connection = silent.accept()) {
                assertThat(connection.getInputStream().read()).isNotNegative();
                top.toHandle().destroy();
                assertThat(exitCode(top)).isZero();
            }
        }
    }

    @Test
    void terminatedDemoExitsWithZero() throws Exception {
        Process demo = start("", "cluster", "demo", directory.toString(), "--ports", "" + FreePorts.next());
        BufferedReader out = demo.inputReader(UTF_8);
        while (!out.readLine().startsWith("connect with a cluster client")) {
            // Skips the lines about the nodes.
        }
        demo.toHandle().destroy();
        assertThat(exitCode(demo)).isZero();
        assertThat(out.lines()).isEmpty();
    }

    /** Ends the nodes before the command, as Ctrl-C may, because it reaches all of them. */
    @Test
    void interruptedDemoDoesNotReportThatNodesHaveEnded() throws Exception {
        Process demo = start("", "cluster", "demo", directory.toString(), "--ports", "" + FreePorts.next());
        BufferedReader out = demo.inputReader(UTF_8);
        while (!out.readLine().startsWith("connect with a cluster client")) {
            // Skips the lines about the nodes.
        }
        List<ProcessHandle> nodes = demo.children().toList();
        assertThat(nodes).hasSize(3);
        nodes.forEach(ProcessHandle::destroy);
        Eventually.await("the nodes have ended", () -> nodes.stream().noneMatch(ProcessHandle::isAlive));
        demo.toHandle().destroy();
        assertThat(exitCode(demo)).isZero();
        assertThat(out.lines()).isEmpty();
    }

    /** The limit on the size of files has the same effect as a full disk. */
    @Test
    void demoOnFullDiskLeavesNoIncompleteClusterFile() throws Exception {
        List<String> demo = ServerJvm.command(List.of("-XX:-UsePerfData"), "cluster", "demo", directory.toString());
        List<String> command = new ArrayList<>(List.of("bash", "-c", "ulimit -f 0 && exec \"$@\"", "bash"));
        command.addAll(demo);
        Process process = new ProcessBuilder(command).start();
        assertThat(exitCode(process)).isOne();
        assertThat(new String(process.getErrorStream().readAllBytes(), UTF_8)).contains("File too large");
        assertThat(directory.resolve("cluster.properties")).doesNotExist();
    }

    @Test
    void terminatedLogExitsWithZero() throws Exception {
        try (ListStore store = SmallFiles.open(directory)) {
            store.append(1, new byte[3]).join();
            Process log = start("", "log", directory.toString(), "--follow");
            BufferedReader out = log.inputReader(UTF_8);
            assertThat(out.readLine()).contains("\"type\":\"segment\"");
            assertThat(out.readLine()).contains("\"type\":\"append\"").endsWith("\"bytes\":3}");
            store.append(1, new byte[4]).join();
            assertThat(out.readLine()).endsWith("\"bytes\":4}");
            log.toHandle().destroy();
            assertThat(exitCode(log)).isZero();
            assertThat(out.readLine()).isNull();
        }
    }

    @Test
    void terminatedLogReportsDamage() throws Exception {
        try (ListStore store = SmallFiles.open(directory)) {
            for (int i = 0; i < 3; i++) {
                store.append(1, new byte[3_000]).join();
            }
        }
        Path file = directory.resolve("log-0000000000000000.wal");
        byte[] bytes = Files.readAllBytes(file);
        bytes[4096 + 60] ^= 1;
        Files.write(file, bytes);
        Process log = start("", "log", directory.toString(), "--follow");
        assertThat(log.inputReader(UTF_8).readLine()).startsWith("{\"type\":\"damage\"");
        log.toHandle().destroy();
        assertThat(exitCode(log)).isOne();
    }

    /** The server does not reply, so the export waits after it has created its file. */
    @Test
    void terminatedExportLeavesNoFile() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Path file = directory.resolve("x.export");
            Process export = start("127.0.0.1:" + silent.getLocalPort(), "export", "--out", file.toString());
            try (Socket connection = silent.accept()) {
                assertThat(connection.getInputStream().read()).isNotNegative();
                assertThat(directory.toFile().list()).singleElement(STRING).endsWith(".partial");
                export.toHandle().destroy();
                assertThat(exitCode(export)).isNotZero();
            }
            assertThat(directory).isEmptyDirectory();
        }
    }

    /** A continuous copy that has rejected a document must exit with an error code even if a signal ends it. */
    @Test
    void terminatedCopyReportsRejectedDocument() throws Exception {
        try (ServedStore from = new ServedStore();
                ServedStore to = new ServedStore()) {
            CommandRun.of(from, "append", "a", "1");
            CommandRun.of(to, "append", "a", "another");
            Process copy = start(from.address(), "copy", "a", "--follow", "--to", to.address());
            BufferedReader problems = copy.errorReader(UTF_8);
            while (!problems.readLine().contains("was not")) {
                // Skips progress lines.
            }
            copy.toHandle().destroy();
            assertThat(copy.inputReader(UTF_8).lines())
                    .anyMatch(end -> end.startsWith("followed ") && end.endsWith("; 1 rejected"));
            assertThat(exitCode(copy)).isEqualTo(3);
        }
    }

    @Test
    void reportsInvalidEnvironmentAddressAsUsageError() throws Exception {
        Process stat = start("nowhere", "stat");
        assertThat(exitCode(stat)).isEqualTo(2);
        assertThat(new String(stat.getErrorStream().readAllBytes(), UTF_8))
                .hasLineCount(1)
                .contains("'nowhere' is not HOST:PORT", "environment CARAVAN_SERVER");
    }
}
