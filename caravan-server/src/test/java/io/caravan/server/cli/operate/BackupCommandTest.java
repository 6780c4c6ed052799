package io.caravan.server.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.DurableListStore;
import io.caravan.StoreConfig;
import io.caravan.VerifyReport;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.backup.Backups;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.config.HostPort;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.Eventually;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the {@code backup} command, which copies the store of a running server. */
class BackupCommandTest {
    @TempDir
    private Path directory;

    private Step slowly = () -> {};

    private interface Step {
        void run() throws InterruptedException;
    }

    private interface Talk {
        void with(String address) throws Exception;
    }

    private void await() {
        try {
            slowly.run();
        } catch (InterruptedException ended) {
            throw new IllegalStateException(ended);
        }
    }

    private void serve(UnaryOperator<ServerConfig> change, Talk talk) throws Exception {
        StoreConfig config = SmallFiles.config(directory.resolve("store")).build();
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (DurableListStore store = DurableListStore.open(config);
                Server server = new Server(change.apply(ServerConfig.of(any, config)), List.of(), null)) {
            Backups.Source source = (target, progress) -> {
                await();
                return store.backup(target, progress);
            };
            server.serve(store, Backups.of(source, directory));
            talk.with(HostPort.format(server.respAddress()));
        }
    }

    private static CommandRun run(String address, String... words) {
        return CommandRun.at(address, words);
    }

    @Test
    void printsBackupPathAndLogPosition() throws Exception {
        Path backup = directory.resolve("monday");
        serve(config -> config, address -> {
            run(address, "append", "letters/1", "Dear Ada,");
            CommandRun made = run(address, "backup", "monday").succeeds();
            assertThat(made.out())
                    .matches("\\Q" + backup + "\\E contains the store as it was at log position [0-9]+:"
                            + " [0-9]+ files, [0-9.]+ .iB, in [0-9.]+ s\n");
            assertThat(DurableListStore.verify(backup, VerifyReport.Progress.NONE)
                            .clean())
                    .isTrue();
            assertThat(run(address, "backup", "tuesday", "--json").out())
                    .matches("\\{\"path\":\"\\Q" + directory.resolve("tuesday") + "\\E\",\"files\":[0-9]+,"
                            + "\"bytes\":[0-9]+,\"lsn\":[0-9]+,\"millis\":[0-9]+}\n");
        });
    }

    private static void fails(CommandRun run, String message) {
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("caravan: " + message);
        assertThat(run.exitCode()).isEqualTo(1);
    }

    @Test
    void reportsWhyBackupFails() throws Exception {
        Files.writeString(Files.createDirectory(directory.resolve("taken")).resolve("file"), "mine");
        serve(config -> config, address -> {
            fails(run(address, "backup", "taken"), directory.resolve("taken") + " already exists: choose another name");
        });
        try (ServedStore served = new ServedStore()) {
            fails(
                    CommandRun.of(served, "backup", "monday"),
                    "this server makes no backups: start it with --backup-dir");
            served.stop();
            fails(CommandRun.of(served, "backup", "monday"), "no server listens at ");
        }
    }

    @Test
    void rejectsInvalidNameAsUsageError() {
        for (String name : List.of("../x", "", "monday.partial", "x".repeat(201))) {
            run("127.0.0.1:1", "backup", name).exits(2, "'" + name + "' cannot be a backup's name: it has 1 to 200");
        }
    }

    @Test
    void lostConnectionReportsThatBackupContinues() throws Exception {
        CountDownLatch copying = new CountDownLatch(1);
        CountDownLatch mayCopy = new CountDownLatch(1);
        slowly = () -> {
            copying.countDown();
            mayCopy.await();
        };
        serve(config -> config, address -> {
            FutureTask<CommandRun> command = new FutureTask<>(() -> run(address, "backup", "monday"));
            new Thread(command).start();
            copying.await();
            HostPort server = HostPort.parse(address);
            try (RespClient other = new RespClient(new InetSocketAddress(server.host(), server.port()))) {
                assertThat(other.call("CLIENT", "KILL", "TYPE", "normal")).isEqualTo(":2");
            }
            fails(command.get(), "the connection to " + address + " was lost: ");
            assertThat(command.get().err()).contains("the backup may continue: 'caravan stat' reports this");
            mayCopy.countDown();
            Eventually.await("the backup is complete", () -> Files.exists(directory.resolve("monday")));
        });
    }

    @Test
    void requiresAdminPermission() throws Exception {
        Path users = Files.writeString(
                directory.resolve("users"), "editor.secret = reads-and-writes\neditor.permissions = read, write\n");
        Authenticator authenticator = Authenticator.ofSecrets(users);
        serve(config -> config.withAuthenticator(authenticator), address -> {
            CommandRun editor = CommandRun.with(Map.of("CARAVAN_PASSWORD", "reads-and-writes"), new byte[0])
                    .run(address, "backup", "monday");
            fails(editor, "NOPERM ");
            assertThat(directory.resolve("monday")).doesNotExist();
        });
    }

    @Test
    void formatsBackupProgress() {
        assertThat(progress(0, 0)).isEqualTo("the backup is starting");
        assertThat(progress(12 << 20, 64 << 20)).isEqualTo("copied 12.0 MiB of 64.0 MiB");
    }

    private static String progress(long done, long total) {
        return BackupCommand.progress(ServerInfo.parse(
                "# Persistence\r\nbackup_done_bytes:" + done + "\r\nbackup_total_bytes:" + total + "\r\n"));
    }
}
