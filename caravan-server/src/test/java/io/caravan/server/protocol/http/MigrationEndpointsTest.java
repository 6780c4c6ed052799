package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.server.security.TestUsers;
import java.net.http.HttpResponse;
import java.util.Base64;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the HTTP requests that migrate a document from another server. */
class MigrationEndpointsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String IMPORT = "/v1/import/a/b?step=";
    private static final String TEXT = "{\"attributes\":{\"content-type\":\"text/plain\"}}";

    @AutoClose
    private static HttpFixture server;

    @BeforeAll
    static void start() throws Exception {
        server = HttpFixture.serving();
    }

    @AfterEach
    void clear() throws Exception {
        server.send("DELETE", "/v1/stream/a/b", null);
    }

    /** Requests a step of an import, and returns a field of the successful response. */
    private JsonNode done(String step, String body, String field) throws Exception {
        HttpResponse<String> response = server.send("POST", IMPORT + step, body);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JSON.readTree(response.body()).path(field);
    }

    private long next(String step, String body) throws Exception {
        return done(step, body, "next").asLong();
    }

    private void assertRejected(int status, String code, String step, String body) throws Exception {
        HttpFixture.assertProblem(server.send("POST", IMPORT + step, body), status, code);
    }

    private String content() throws Exception {
        return server.get("/v1/stream/a/b?offset=-1").body();
    }

    private static String values(String... values) {
        return Stream.of(values)
                .map(value -> Base64.getEncoder().encodeToString(value.getBytes()))
                .collect(Collectors.joining("\",\"", "{\"values\":[\"", "\"]}"));
    }

    @Test
    void importsDocumentInOneStepAndExportsIt() throws Exception {
        String whole = "{\"attributes\":{\"ttl\":60,\"content-type\":\"text/x\"},\"values\":[\"YQ==\",\"\"]}";
        assertThat(next("whole&first=7", whole)).isEqualTo(9);
        JsonNode export = JSON.readTree(server.get("/v1/export/a/b").body());
        assertThat(export.path("first").asLong()).isEqualTo(7);
        assertThat(export.path("next").asLong()).isEqualTo(9);
        assertThat(export.path("bytes").asLong()).isEqualTo(1);
        assertThat(export.path("attributes").toString())
                .isIn("{\"content-type\":\"text/x\",\"ttl\":60}", "{\"ttl\":60,\"content-type\":\"text/x\"}");
        assertRejected(409, "exists", "whole&first=7", TEXT);
        assertThat(next("whole&first=3&replace=true", TEXT)).isEqualTo(3);
        assertThat(server.get("/v1/export/absent").statusCode()).isEqualTo(404);
    }

    @Test
    void chunkedImportIsVisibleAtEndAndRejectsRepeats() throws Exception {
        long id = done("begin&first=5", TEXT, "id").asLong();
        String add = "add&id=" + id + "&sequence=5";
        assertThat(next(add, values("a", "b"))).isEqualTo(7);
        assertRejected(409, "sequence_conflict", add, values("a", "b"));
        assertThat(server.get("/v1/stream/a/b?offset=-1").statusCode()).isEqualTo(503);
        assertRejected(409, "sequence_conflict", "end&id=" + id + "&sequence=6", null);
        assertThat(next("end&id=" + id + "&sequence=7", null)).isEqualTo(7);
        assertThat(content()).isEqualTo("ab");
        assertRejected(409, "changed", "add&id=" + id + "&sequence=7", values("c"));
        assertThat(done("abort&id=" + id, null, "aborted").asBoolean()).isFalse();
        assertThat(content()).isEqualTo("ab");
    }

    @Test
    void startedImportCanBeAborted() throws Exception {
        long id = done("begin&first=0", TEXT, "id").asLong();
        assertThat(done("abort&id=" + id, null, "aborted").asBoolean()).isTrue();
        assertThat(server.get("/v1/export/a/b").statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|{}|invalid_parameter",
                "all|{}|invalid_parameter",
                "whole|{}|invalid_parameter",
                "whole&first=-1|{}|invalid_parameter",
                "whole&first=999999999999999999|{}|invalid_request",
                "whole&first=0|[]|invalid_import",
                "whole&first=0|{\"a\":1}|invalid_import",
                "whole&first=0|{\"values\":[1]}|invalid_import",
                "whole&first=0|{\"values\":[\"$\"]}|invalid_import",
                "whole&first=0|{\"attributes\":{\"ttl\":true}}|invalid_import",
                "whole&first=0|{\"attributes\":{\"ttl\":\"x\"}}|invalid_request",
                "whole&first=0|{\"attributes\":{\"colour\":\"x\"}}|invalid_request",
                "whole&first=0|{}{}|invalid_import",
                "whole&first=0|{\"attributes\":{\"content-type\":\"application/json\"},\"values\":[\"YQ==\"]}|not_json",
                "begin&first=0|{\"values\":[\"YQ==\"]}|invalid_import",
                "add&id=1|{}|invalid_parameter",
                "add&id=1&sequence=1|{\"attributes\":{\"ttl\":1}}|invalid_import",
            })
    void rejectsInvalidImports(String step, String body, String code) throws Exception {
        assertRejected(400, code, step, body);
        assertThat(server.get("/v1/export/a/b").statusCode()).isEqualTo(404);
    }

    @Test
    void exportRequiresReadAndImportRequiresWrite() throws Exception {
        TestUsers users = new TestUsers("reader.secret = only-reads\nreader.permissions = read\n"
                + "writer.secret = only-writes\nwriter.permissions = write\nwriter.prefixes = a/\n");
        try (HttpFixture closed = HttpFixture.guarded(users.authenticator)) {
            String[] reader = {"Authorization", "Bearer only-reads"};
            String[] writer = {"Authorization", "Bearer only-writes"};
            String importPath = IMPORT + "whole&first=0";
            assertThat(closed.status("POST", importPath, TEXT)).isEqualTo(401);
            assertThat(closed.status("POST", importPath, TEXT, reader)).isEqualTo(403);
            assertThat(closed.status("POST", "/v1/import/b?step=whole&first=0", TEXT, writer))
                    .isEqualTo(403);
            assertThat(closed.status("POST", importPath, TEXT, writer)).isEqualTo(200);
            assertThat(closed.status("GET", "/v1/export/a/b", null)).isEqualTo(401);
            assertThat(closed.status("GET", "/v1/export/a/b", null, writer)).isEqualTo(403);
            assertThat(closed.status("GET", "/v1/export/a/b", null, reader)).isEqualTo(200);
        }
    }

    @Test
    void importAppliesValueAndWriteLimits() throws Exception {
        String greatest = "x".repeat(HttpFixture.MAX_BODY_BYTES);
        next("whole&first=0", values(greatest, greatest));
        assertRejected(413, "value_too_large", "whole&first=0&replace=true", values(greatest + "x"));
        assertRejected(
                413, "too_many_messages", "whole&first=0&replace=true", values(greatest, greatest, greatest, greatest));
        assertRejected(413, "body_too_large", "whole&first=0&replace=true", values("x".repeat(2 * 1024 * 1024)));
        String page = server.get("/v1/values/a/b?offset=-1&whole=true").body();
        assertThat(JSON.readTree(page).path("values").get(1).path("base64").binaryValue())
                .hasSize(HttpFixture.MAX_BODY_BYTES);
    }

    private HttpResponse<String> move(String step) throws Exception {
        return server.send("POST", "/v1/move/a/b?step=" + step, null);
    }

    @Test
    void migratedDocumentIsFencedThenRedirected() throws Exception {
        next("whole&first=7", values("x"));
        assertThat(move("fence&holder=5&to=other:6380%20http://other:4437").body())
                .contains("\"first\":7", "\"next\":8");
        HttpResponse<String> fenced = server.append("/v1/stream/a/b", "application/octet-stream", "y");
        HttpFixture.assertProblem(fenced, 503, "moving");
        assertThat(fenced.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(server.get("/v1/stream/a/b?offset=-1").statusCode()).isEqualTo(200);
        assertThat(move("redirect&holder=4").statusCode()).isEqualTo(409);
        assertThat(move("redirect&holder=5").body()).isEqualTo("{\"to\":\"other:6380 http://other:4437\"}");

        HttpResponse<String> read = server.get("/v1/stream/a/b?offset=-1");
        HttpFixture.assertProblem(read, 307, "moved");
        assertThat(read.headers().firstValue("Location")).hasValue("http://other:4437/v1/stream/a/b?offset=-1");
        assertThat(read.headers().firstValue("Cache-Control")).hasValue("no-store");

        assertThat(server.append("/v1/stream/a/b", "text/plain", "y").statusCode())
                .isEqualTo(307);
        String delete = "{\"operations\":[{\"path\":\"/v1/stream/a/b\",\"delete\":true}]}";
        HttpResponse<String> batch = server.append("/v1/batch", "application/json", delete);
        HttpFixture.assertProblem(batch, 421, "moved");
        assertThat(batch.body()).contains("because of operation 1");
        assertRejected(307, "moved", "whole&first=7", "");
        next("whole&first=7&replace=redirect", values("x"));
        assertThat(content()).isEqualTo("x");
    }

    @Test
    void movedDocumentReportsServerWithoutHttpUrl() throws Exception {
        next("whole&first=7", values("x"));
        move("fence&holder=5&to=other:6380");
        assertThat(move("abandon&holder=4").body()).isEqualTo("{\"abandoned\":false}");
        move("redirect&holder=5");
        HttpResponse<String> read = server.get("/v1/stream/a/b?offset=-1");
        assertThat(read.statusCode()).isEqualTo(421);
        assertThat(read.body()).contains("has been moved to other:6380");
        assertThat(move("forget").body()).isEqualTo("{\"forgotten\":true}");
        assertThat(server.get("/v1/stream/a/b?offset=-1").statusCode()).isEqualTo(404);
        assertThat(move("none").statusCode()).isEqualTo(400);
    }

    @Test
    void continuesAndDeletesImportedDocument() throws Exception {
        next("whole&first=7", values("x"));
        long id = JSON.readTree(server.get("/v1/export/a/b").body()).path("id").asLong();
        assertThat(next("continue&first=8&sequence=8&id=" + id, values("y"))).isEqualTo(9);
        assertThat(content()).isEqualTo("y");
        assertRejected(409, "sequence_conflict", "continue&first=8&sequence=8&id=" + id, values("y"));
        assertThat(done("delete&id=" + (id + 1), "", "deleted").asBoolean()).isFalse();
        assertThat(done("delete&id=" + id, "", "deleted").asBoolean()).isTrue();
    }
}
