package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.BackupReport;
import io.caravan.ListStore;
import io.caravan.StoreIoException;
import io.caravan.server.document.Backups;
import io.caravan.server.protocol.http.connection.Served;
import io.caravan.server.security.FileAuthenticator;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backups that administrators start and watch over HTTP. */
class BackupPagesTest {
    private static final String[] ADMIN = {"Authorization", "Bearer administers"};
    private static final String[] EDITOR = {"Authorization", "Bearer reads-and-writes"};

    @TempDir
    private Path directory;

    private final Semaphore mayCopy = new Semaphore(0);
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        Path users = Files.writeString(
                directory.resolve("users"),
                "admin.secret = administers\nadmin.permissions = admin\n"
                        + "editor.secret = reads-and-writes\neditor.permissions = read, write\n");
        server = new HttpFixture(
                ListStore.inMemory(), FileAuthenticator.ofSecrets(users), HttpFixture.LONG, HttpFixture.LONG);
    }

    @AfterEach
    void stop() {
        mayCopy.release(100);
        server.close();
    }

    private void serve(Backups backups) {
        server.server.serve(new Served(server.documents, null, null, backups, Stream::empty, List.of()));
    }

    private void serve() throws IOException {
        serve(Backups.of(this::copy, Files.createDirectory(directory.resolve("backups"))));
    }

    /** Replaces the copying of a durable store. A backup with the name "full" fails because the disk is full. */
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
        HttpResponse<String> answer = send("GET", "/v1/backups/" + name, ADMIN);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JsonTree.parse(answer.body());
    }

    private Object state(String name) {
        try {
            return backup(name).get("state");
        } catch (Exception unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Test
    void oneIsBegunAndWatchedUntilItIsWhole() throws Exception {
        serve();
        HttpResponse<String> begun = send("POST", "/v1/backups/monday", ADMIN);
        assertThat(begun.statusCode()).isEqualTo(202);
        assertThat(begun.headers().firstValue("Location")).contains("./monday");
        assertThat(begun.body()).contains("\"name\":\"monday\",\"state\":\"running\"");
        Eventually.await("it runs", () -> state("monday").equals("running") && progressed());
        refused(send("POST", "/v1/backups/tuesday", ADMIN), 409, "backup_in_progress");

        mayCopy.release();
        Eventually.await("it is complete", () -> state("monday").equals("complete"));
        assertThat(backup("monday"))
                .containsEntry("path", directory.resolve("backups/monday").toString())
                .containsEntry("bytes", 70)
                .containsEntry("files", 1)
                .containsEntry("lsn", 8192)
                .containsKey("at");
        refused(send("POST", "/v1/backups/monday", ADMIN), 409, "backup_exists");
        assertThat(backup("monday")).containsEntry("state", "complete").containsEntry("lsn", 8192);
    }

    private boolean progressed() {
        try {
            Map<String, Object> running = backup("monday");
            return running.get("bytes").equals(7) && running.get("totalBytes").equals(70);
        } catch (Exception unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Test
    void oneThatFailsIsToldUntilTheNextAndWhatAKilledServerLeftIsToldApart() throws Exception {
        serve();
        Files.createDirectory(directory.resolve("backups/killed.partial"));
        Files.createFile(directory.resolve("backups/no-folder"));
        mayCopy.release(2);
        assertThat(send("POST", "/v1/backups/full", ADMIN).statusCode()).isEqualTo(202);
        Eventually.await("it has failed", () -> state("full").equals("failed"));
        assertThat(backup("full")).containsEntry("problem", "the disk is full");
        assertThat(state("killed")).isEqualTo("abandoned");
        assertThat(listed()).containsExactlyInAnyOrder("full failed", "killed abandoned");

        send("POST", "/v1/backups/next", ADMIN);
        Eventually.await("it is complete", () -> state("next").equals("complete"));
        assertThat(listed()).containsExactlyInAnyOrder("next complete", "killed abandoned");
        Files.delete(directory.resolve("backups/next/file"));
        Files.delete(directory.resolve("backups/next"));
        refused(send("GET", "/v1/backups/next", ADMIN), 404, "no_backup");
    }

    @SuppressWarnings("unchecked")
    private List<String> listed() throws Exception {
        Map<String, Object> answer =
                JsonTree.parse(send("GET", "/v1/backups", ADMIN).body());
        return ((List<Map<String, Object>>) answer.get("backups"))
                .stream()
                        .map(backup -> backup.get("name") + " " + backup.get("state"))
                        .toList();
    }

    private static void refused(HttpResponse<String> answer, int status, @Nullable String code) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(answer.body()).contains("\"code\":\"" + code + "\"");
    }

    @Test
    void namesThatLeadElsewhereAreRefused() throws Exception {
        serve();
        for (String name : new String[] {"", "..", "%2e%2e", "a/b", "%2Ftmp", ".hidden", "-rf", "x.partial", "a%20b"}) {
            refused(send("POST", "/v1/backups/" + name, ADMIN), 400, "invalid_request");
            refused(send("GET", "/v1/backups/" + name, ADMIN), 400, "invalid_request");
        }
        assertThat(listed()).isEmpty();
    }

    @Test
    void withoutADirectoryItSaysWhatToDo() throws Exception {
        serve(Backups.none());
        for (String request : new String[] {"POST /v1/backups/x", "GET /v1/backups/x", "GET /v1/backups"}) {
            String[] words = request.split(" ");
            HttpResponse<String> answer = send(words[0], words[1], ADMIN);
            refused(answer, 404, "no_backups");
            assertThat(answer.body()).contains("--backup-dir");
        }
    }

    @Test
    void onlyAdministratorsMayMakeThemAndSeeThem() throws Exception {
        serve();
        for (String request : new String[] {"POST /v1/backups/x", "GET /v1/backups/x", "GET /v1/backups"}) {
            String[] words = request.split(" ");
            refused(send(words[0], words[1]), 401, "unauthorized");
            refused(send(words[0], words[1], EDITOR), 403, "forbidden");
        }
        assertThat(listed()).isEmpty();
    }
}
