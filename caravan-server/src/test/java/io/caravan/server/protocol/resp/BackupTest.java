package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.BackupReport;
import io.caravan.DurableListStore;
import io.caravan.StoreConfig;
import io.caravan.VerifyReport;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.backup.Backups;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests backups of a store that a server is using. */
class BackupTest {
    @TempDir
    private Path directory;

    private final CountDownLatch copying = new CountDownLatch(1);

    private interface Talk {
        void with(RespClient client, Server server) throws Exception;
    }

    private void serve(@Nullable Path backups, CountDownLatch mayCopy, Talk talk) throws Exception {
        StoreConfig config = SmallFiles.config(directory.resolve("store")).build();
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (DurableListStore store = DurableListStore.open(config);
                Server server = new Server(ServerConfig.of(any, config), List.of(), null)) {
            Backups.Source source = (target, progress) -> {
                progress.at(7, 70);
                copying.countDown();
                await(mayCopy);
                return store.backup(target, progress);
            };
            server.serve(store, Backups.of(source, backups));
            try (RespClient client = new RespClient(server.respAddress())) {
                talk.with(client, server);
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ended) {
            throw new IllegalStateException(ended);
        }
    }

    @Test
    void backupContainsAcknowledgedWrites() throws Exception {
        serve(directory, new CountDownLatch(0), (client, server) -> {
            client.call("RPUSH", "letters/1", "one", "two");
            assertThat(client.call("CARAVAN.BACKUP", "monday"))
                    .contains("$path, $" + directory.resolve("monday"), "$files, :", "$lsn, :", "$millis, :");
            client.call("RPUSH", "letters/1", "three");
        });
        assertThat(DurableListStore.verify(directory.resolve("monday"), VerifyReport.Progress.NONE)
                        .clean())
                .isTrue();
        Files.move(directory.resolve("store"), directory.resolve("original"));
        Files.move(directory.resolve("monday"), directory.resolve("store"));
        serve(
                null,
                new CountDownLatch(0),
                (client, server) -> assertThat(client.call("LRANGE", "letters/1", "0", "-1"))
                        .isEqualTo("[$one, $two]"));
    }

    @Test
    void reportsMissingBackupDirOption() throws Exception {
        serve(
                null,
                new CountDownLatch(0),
                (client, server) -> assertThat(client.call("CARAVAN.BACKUP", "monday"))
                        .isEqualTo("-BACKUP this server makes no backups: start it with --backup-dir"));
    }

    @Test
    void rejectsInvalidNamesAndExistingDirectories() throws Exception {
        Path taken = Files.createDirectory(directory.resolve("taken"));
        Files.writeString(taken.resolve("file"), "mine");
        serve(directory, new CountDownLatch(0), (client, server) -> {
            for (String name :
                    new String[] {"", ".", "..", "../x", "a/b", "/tmp/x", ".hidden", "-rf", "x.partial", "a b"}) {
                assertThat(client.call("CARAVAN.BACKUP", name)).as(name).contains("cannot be a backup's name");
            }
            assertThat(client.call("CARAVAN.BACKUP", "taken"))
                    .isEqualTo("-BACKUP " + taken + " already exists: choose another name, or remove it first");
            assertThat(taken.resolve("file")).hasContent("mine");
            assertThat(client.call("CARAVAN.BACKUP", "free")).contains("$files");
        });
    }

    @Test
    void rejectsConcurrentBackupButServesCommands() throws Exception {
        CountDownLatch mayCopy = new CountDownLatch(1);
        serve(directory, mayCopy, (first, server) -> {
            first.send("CARAVAN.BACKUP", "first");
            try (RespClient other = new RespClient(server.respAddress())) {
                await(copying);
                assertThat(other.call("CARAVAN.BACKUP", "second")).startsWith("-BACKUP another backup is being made");
                assertThat(other.call("RPUSH", "k", "v")).isEqualTo(":1");
                assertThat(other.call("INFO", "persistence"))
                        .contains("backup_in_progress:1\r\n", "backup_done_bytes:7\r\n", "backup_total_bytes:70\r\n");
            } finally {
                mayCopy.countDown();
            }
            assertThat(first.read()).contains("$files");
            assertThat(first.call("INFO", "persistence"))
                    .contains("backup_in_progress:0\r\n", "backup_done_bytes:0\r\n", "backup_total_bytes:0\r\n");
        });
    }

    @Test
    void stoppingServerDoesNotWaitForBackup() throws Exception {
        StoreConfig config = SmallFiles.config(directory.resolve("store")).build();
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (DurableListStore store = DurableListStore.open(config);
                Server server = new Server(ServerConfig.of(any, config), List.of(), null)) {
            server.serve(store, Backups.of(this::endless, directory));
            try (RespClient client = new RespClient(server.respAddress())) {
                client.send("CARAVAN.BACKUP", "monday");
                await(copying);
                server.close();
                assertThat(client.read()).isEqualTo("-IOERR the server is stopping: its store is closed");
            }
        }
    }

    private BackupReport endless(Path target, BackupReport.Progress progress) {
        copying.countDown();
        while (true) {
            progress.at(0, 1);
            LockSupport.parkNanos(1_000_000);
        }
    }
}
