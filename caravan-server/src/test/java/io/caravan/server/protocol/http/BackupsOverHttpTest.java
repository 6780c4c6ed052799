package io.caravan.server.protocol.http;

import static io.caravan.server.protocol.http.HttpFixture.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.BackupReport;
import io.caravan.StoreIoException;
import io.caravan.server.backup.Backups;
import io.caravan.server.security.TestUsers;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests backups that administrators start and monitor over HTTP. */
class BackupsOverHttpTest {
    private static final String[] ADMIN = {"Authorization", "Bearer administers"};
    private static final String[] EDITOR = {"Authorization", "Bearer reads-and-writes"};

    @TempDir
    private Path directory;

    private final Semaphore mayCopy = new Semaphore(0);
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        TestUsers users = new TestUsers("admin.secret = administers\nadmin.permissions = admin\n"
                + "editor.secret = reads-and-writes\neditor.permissions = read, write\n");
        server = HttpFixture.guarded(users.authenticator);
    }

    @AfterEach
    void stop() {
        mayCopy.release(100);
        server.close();
    }

    private void serve(Backups backups) {
        server.server.serve(new HttpProtocol.Services(server.documents, null, null, backups, Stream::empty, List.of()));
    }

    private void serve() throws IOException {
        serve(Backups.of(this::copy, Files.createDirectory(directory.resolve("backups"))));
    }

    /** Simulates the copying of a durable store. A backup with the name "full" fails because the disk is full. */
    private BackupReport copy(Path target, BackupReport.Progress progress) {
        progress.at(7, 70);
        mayCopy.acquireUninterruptibly();
        if (target.endsWith("full")) {
            throw new StoreIoException("the disk is full", new IOException("ENOSPC"));
        }
        try {
            Files.write(Files.createDirectory(target).resolve("file"), new byte[70]);
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
        return new BackupReport(8192, 1, 1, 70);
    }

    private HttpResponse<String> send(String method, String path, String... user) throws Exception {
        return server.send(method, path, null, user);
    }

    private Map<String, Object> backup(String name) throws Exception {
        HttpResponse<String> response = send("GET", "/v1/backups/" + name, ADMIN);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JsonTree.parse(response.body());
    }

    /** Waits until the backup has this state, and returns the JSON description of the backup. */
    private Map<String, Object> awaitState(String name, String state) {
        AtomicReference<Map<String, Object>> backup = new AtomicReference<>();
        Eventually.await(name + " is " + state, () -> {
            try {
                backup.set(backup(name));
            } catch (Exception unexpected) {
                throw new AssertionError(unexpected);
            }
            return backup.get().get("state").equals(state);
        });
        return backup.get();
    }

    @Test
    void reportsProgressUntilBackupCompletes() throws Exception {
        serve();
        HttpResponse<String> started = send("POST", "/v1/backups/monday", ADMIN);
        assertThat(started.statusCode()).isEqualTo(202);
        assertThat(started.headers().firstValue("Location")).contains("./monday");
        assertThat(started.body()).contains("\"name\":\"monday\",\"state\":\"running\"");
        Map<String, Object> running = awaitState("monday", "running");
        assertThat(running).containsEntry("bytes", 7).containsEntry("totalBytes", 70);
        assertProblem(send("POST", "/v1/backups/tuesday", ADMIN), 409, "backup_in_progress");

        mayCopy.release();
        assertThat(awaitState("monday", "complete"))
                .containsEntry("path", directory.resolve("backups/monday").toString())
                .containsEntry("bytes", 70)
                .containsEntry("files", 1)
                .containsEntry("lsn", 8192)
                .containsKey("at");
        assertProblem(send("POST", "/v1/backups/monday", ADMIN), 409, "backup_exists");
        assertThat(backup("monday")).containsEntry("state", "complete").containsEntry("lsn", 8192);
    }

    @Test
    void listsFailedAndAbandonedBackups() throws Exception {
        serve();
        Files.createDirectory(directory.resolve("backups/killed.partial"));
        Files.createFile(directory.resolve("backups/no-folder"));
        mayCopy.release(2);
        assertThat(send("POST", "/v1/backups/full", ADMIN).statusCode()).isEqualTo(202);
        assertThat(awaitState("full", "failed")).containsEntry("problem", "the disk is full");
        assertThat(backup("killed")).containsEntry("state", "abandoned");
        assertThat(listed()).containsExactlyInAnyOrder("full failed", "killed abandoned");

        send("POST", "/v1/backups/next", ADMIN);
        awaitState("next", "complete");
        assertThat(listed()).containsExactlyInAnyOrder("next complete", "killed abandoned");
        Files.delete(directory.resolve("backups/next/file"));
        Files.delete(directory.resolve("backups/next"));
        assertProblem(send("GET", "/v1/backups/next", ADMIN), 404, "no_backup");
    }

    @SuppressWarnings("unchecked")
    private List<String> listed() throws Exception {
        Map<String, Object> response =
                JsonTree.parse(send("GET", "/v1/backups", ADMIN).body());
        return ((List<Map<String, Object>>) response.get("backups"))
                .stream()
                        .map(backup -> backup.get("name") + " " + backup.get("state"))
                        .toList();
    }

    @Test
    void rejectsInvalidBackupNames() throws Exception {
        serve();
        for (String name : new String[] {"", "..", "%2e%2e", "a/b", "%2Ftmp", ".hidden", "-rf", "x.partial", "a%20b"}) {
            assertProblem(send("POST", "/v1/backups/" + name, ADMIN), 400, "invalid_request");
            assertProblem(send("GET", "/v1/backups/" + name, ADMIN), 400, "invalid_request");
        }
        assertThat(listed()).isEmpty();
    }

    @Test
    void reportsMissingBackupDirOption() throws Exception {
        serve(Backups.none());
        for (String request : new String[] {"POST /v1/backups/x", "GET /v1/backups/x", "GET /v1/backups"}) {
            String[] words = request.split(" ");
            HttpResponse<String> response = send(words[0], words[1], ADMIN);
            assertProblem(response, 404, "no_backups");
            assertThat(response.body()).contains("--backup-dir");
        }
    }

    @Test
    void backupsRequireAdminPermission() throws Exception {
        serve();
        for (String request : new String[] {"POST /v1/backups/x", "GET /v1/backups/x", "GET /v1/backups"}) {
            String[] words = request.split(" ");
            assertProblem(send(words[0], words[1]), 401, "unauthorized");
            assertProblem(send(words[0], words[1], EDITOR), 403, "forbidden");
        }
        assertThat(listed()).isEmpty();
    }
}
