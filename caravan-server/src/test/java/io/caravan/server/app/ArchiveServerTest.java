package io.caravan.server.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.ListStore;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.TestUsers;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests a server's archive as clients and operators see it. */
class ArchiveServerTest {
    private static final Duration NEVER = Duration.ofHours(10);

    @AutoClose
    private final ListStore store = ListStore.inMemory();

    private final MemoryObjects objects = new MemoryObjects(InstantSource.system());
    private final MemoryObjectStore client = objects.client();

    private ServerFixture server(boolean onStop) throws IOException {
        return server(onStop, Authenticator.open());
    }

    private ServerFixture server(boolean onStop, Authenticator authenticator) throws IOException {

        ArchiveConfig archive = Claims.config("memory:", () -> client, true, false, false, NEVER, 2, 0, onStop);
        return new ServerFixture(
                store,
                config -> config.withArchive(archive)
                        .withAuthenticator(authenticator)
                        .withHttp(ServerFixture.HTTP));
    }

    private boolean has(String document) {
        return !objects.keys("manifests/" + document).isEmpty();
    }

    /** The statistics must not count internal writes, such as those to the catalog, as user writes. */
    @Test
    void internalWritesDoNotCountAsUserWrites() throws Exception {
        try (ServerFixture server = server(false);
                RespClient resp = server.connect()) {
            assertThat(resp.call("CARAVAN.SPACE", "SET", "a/", "max-values", "3"))
                    .startsWith("[");
            resp.await(info -> info.contains("archive_state:owner"), "INFO", "archive");
            assertThat(store.stats().lists()).as("lists of its own").isGreaterThan(2);
            assertThat(resp.call("INFO"))
                    .contains("\nappends:0\r\nappended_bytes:0\r\ntrims:0\r\ndeletes:0\r\n", "\nreads:0\r\n")
                    .containsPattern("\ninternal_writes:[1-9]")
                    .contains("\ndocuments:0\r\n", "\nvalues:0\r\n");
            assertThat(server.get("/v1/stats"))
                    .contains("\"appends\":0,\"appendedBytes\":0,\"trims\":0,\"deletes\":0,", "\"values\":0,")
                    .containsPattern("\"internalWrites\":[1-9]");
            assertThat(server.get("/metrics"))
                    .contains(
                            "caravan_store_appends_total 0.0\n",
                            "caravan_store_appended_bytes_total 0.0\n",
                            "caravan_store_trims_total 0.0\n",
                            "caravan_store_values 0.0\n",
                            "caravan_store_internal_writes_total ");
            archivedByCommand(resp, "k");
            assertThat(resp.call("INFO")).containsPattern("\nappends:[1-9]").containsPattern("\nvalues:[1-9]");
        }
    }

    @Test
    void commandArchivesDocument() throws Exception {
        try (ServerFixture server = server(false);
                RespClient resp = server.connect()) {
            assertThat(archivedByCommand(resp, "k"))
                    .startsWith("[$generation, :")
                    .contains("$first, :0, $next, :");
            assertThat(resp.call("CARAVAN.ARCHIVE", "k")).endsWith("$uploaded, :0]");
            assertThat(has("k")).isTrue();
            assertThat(resp.call("CARAVAN.ARCHIVE", "absent")).isEqualTo("-NOTFOUND document 'absent' does not exist");
            client.faults((number, call, key) -> ObjectFault.REJECTED);
            resp.call("RPUSH", "k", "c");
            assertThat(resp.call("CARAVAN.ARCHIVE", "k")).startsWith("-ARCHIVE ");
            client.faults(ObjectFaults.NONE);
            resp.await(archived -> !archived.startsWith("-"), "CARAVAN.ARCHIVE", "k");
        }
    }

    private static String post(ServerFixture server, String path) throws Exception {
        return server.http("POST", path, "").body();
    }

    @Test
    void listsAndRestoresGenerationsOverHttp() throws Exception {
        try (ServerFixture server = server(false);
                RespClient resp = server.connect()) {
            archivedByCommand(resp, "k");
            assertThat(server.get("/v1/archive")).contains("\"state\":\"OWNER\"", "\"drills\":null");
            assertThat(server.get("/v1/archive/stream/k"))
                    .contains("\"name\":\"k\",\"deletedAt\":null", "\"number\":1,");
            assertThat(server.get("/v1/archive/stream/never")).contains("not_archived");
            assertThat(post(server, "/v1/archive/stream/k")).contains("\"added\":0");
            assertThat(post(server, "/v1/archive/stream/k?as=another%20one"))
                    .contains("\"path\":\"/v1/stream/another%20one\"");
            assertThat(resp.call("LRANGE", "another one", "0", "1")).isEqualTo("[$a, $b]");
            assertThat(post(server, "/v1/archive/stream/k?as=k")).contains("invalid_parameter");
            assertThat(post(server, "/v1/archive/stream/k?generation=99")).contains("\"status\":404");
            resp.call("DEL", "k");
            assertThat(post(server, "/v1/archive/stream/k")).contains("\"status\":409,\"code\":\"deleted\"");
        }
    }

    /** Appends to a document and archives it by command. Retries both if the scanner archived the document first. */
    private static String archivedByCommand(RespClient resp, String document) {
        AtomicReference<String> reply = new AtomicReference<>();
        Eventually.await("the command itself has archived what was appended", () -> {
            try {
                resp.call("RPUSH", document, "a", "b");
                reply.set(resp.call("CARAVAN.ARCHIVE", document));
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
            return reply.get().endsWith("$uploaded, :1]");
        });
        return reply.get();
    }

    @Test
    void commandReportsMissingArchive() throws Exception {
        try (ServerFixture server = new ServerFixture();
                RespClient resp = server.connect()) {
            assertThat(resp.call("CARAVAN.ARCHIVE", "k")).startsWith("-ARCHIVE this server has no archive");
            assertThat(resp.call("INFO", "archive")).contains("archive_state:none");
        }
    }

    @Test
    void reportsArchiveProgressAndFailures() throws Exception {
        try (ServerFixture server = server(false);
                RespClient resp = server.connect()) {
            resp.call("RPUSH", "k", "a");
            resp.call("CARAVAN.ARCHIVE", "k");
            assertThat(resp.call("INFO", "archive"))
                    .contains("archive_state:owner\r\n", "archive_location:memory:\r\n", "archive_documents:1\r\n")
                    .contains("archive_overdue_seconds:0");
            // The first scan may have found the document while it was being archived.
            Eventually.await("the backlog is empty", () -> {
                try {
                    return server.get("/readyz").contains("\"backlog\":0");
                } catch (Exception broken) {
                    throw new AssertionError(broken);
                }
            });
            assertThat(server.get("/readyz"))
                    .contains(
                            "\"status\":\"ready\"",
                            "\"state\":\"owner\"",
                            "\"overdueSeconds\":0.0,\"backlog\":0",
                            "\"lastError\":null");
            assertThat(server.get("/v1/stats")).contains("\"location\":\"memory:\"");
            assertThat(server.get("/metrics"))
                    .contains(
                            "caravan_archive_state{state=\"owner\"} 1.0", "caravan_archive_state{state=\"fenced\"} 0.0")
                    .contains("caravan_archive_backlog 0.0", "caravan_archive_documents_total 1.0")
                    .contains("caravan_archive_lag_seconds 0.0", "caravan_archive_overdue_seconds 0.0")
                    .contains("caravan_archive_backoff_seconds 0.0")
                    .contains("caravan_archive_failures_total{kind=\"unavailable\"} 0.0")
                    .contains("caravan_archive_last_success_timestamp_seconds 1");
            client.faults((number, call, key) -> ObjectFault.REJECTED);
            resp.call("RPUSH", "k", "b");
            resp.call("CARAVAN.ARCHIVE", "k");
            assertThat(server.get("/readyz")).contains("\"status\":\"ready\"", "\"kind\":\"unavailable\"");
            assertThat(server.get("/metrics")).doesNotContain("{kind=\"unavailable\"} 0.0");
        }
    }

    @Test
    void rejectsRetentionSettingsWithoutPruning() throws Exception {
        try (ServerFixture server = server(false);
                RespClient resp = server.connect()) {
            assertThat(resp.call("CARAVAN.SPACE", "SET", "a/", "archive-after", "60"))
                    .startsWith("[$prefix, $a/, $archive-after, :60");
            for (String setting : List.of("archive-keep", "archive-keep-days", "archive-keep-daily")) {
                String rejection =
                        "ERR " + setting + " cannot be set here: the server removes nothing from its archive";
                resp.fails(rejection, "CARAVAN.SPACE", "SET", "a/", setting, "2");
            }
        }
    }

    @Test
    void hidesLocationAndNamesFromNonAdministrators() throws Exception {
        TestUsers users = new TestUsers("""
                reader.secret = reads-and-reads
                reader.permissions = read
                reader.prefixes = mine/
                admin.secret = looks-after-it
                admin.permissions = read, write, admin
                """);
        try (ServerFixture server = server(false, users.authenticator);
                RespClient resp = server.connect()) {
            resp.call("AUTH", "admin", "looks-after-it");
            resp.call("RPUSH", "theirs", "a");
            resp.call("CARAVAN.ARCHIVE", "theirs");
            client.faults((number, call, key) -> ObjectFault.REJECTED);
            resp.call("RPUSH", "theirs", "b");
            resp.call("CARAVAN.ARCHIVE", "theirs");
            assertThat(resp.call("INFO")).contains("archive_location:memory:", "archive_last_error:memory:");
            resp.call("AUTH", "reader", "reads-and-reads");
            assertThat(resp.call("INFO"))
                    .contains("archive_state:owner", "archive_last_error_kind:unavailable")
                    .doesNotContain("memory:", "theirs");
        }
    }

    @Test
    void archivesChangesOnStopIfConfigured() throws Exception {
        try (ServerFixture server = server(true);
                RespClient resp = server.connect()) {
            resp.call("RPUSH", "first", "a");
            resp.call("CARAVAN.ARCHIVE", "first");
            resp.call("RPUSH", "k", "a");
            resp.call("DEL", "first");
            server.server.close();
        }
        assertThat(has("k")).isTrue();
        assertThat(new String(objects.content("manifests/first"), UTF_8)).contains("deletedAt");
    }

    @Test
    void doesNotArchiveOnStopUnlessConfigured() throws Exception {
        try (ServerFixture server = server(false);
                RespClient resp = server.connect()) {
            resp.call("RPUSH", "first", "a");
            resp.call("CARAVAN.ARCHIVE", "first");
            resp.call("RPUSH", "k", "a");
        }
        assertThat(has("k")).isFalse();
    }

    @Test
    void rejectsArchiveOfOtherStoreAtStartup() {
        Claims.claim(objects.client(), UUID.randomUUID(), "somebody", InstantSource.system());
        assertThatThrownBy(() -> server(false))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("belongs to the store");
    }
}
