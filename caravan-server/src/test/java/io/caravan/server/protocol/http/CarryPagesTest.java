package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.ListStore;
import io.caravan.server.security.FileAuthenticator;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The HTTP requests for the migration of documents from another server. */
class CarryPagesTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String IMPORT = "/v1/import/a/b?step=";
    private static final String TEXT = "{\"attributes\":{\"content-type\":\"text/plain\"}}";

    @AutoClose
    private static HttpFixture server;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() throws Exception {
        server = HttpFixture.serving();
    }

    @AfterEach
    void clear() throws Exception {
        server.send("DELETE", "/v1/stream/a/b", null);
    }

    private JsonNode done(String step, String body) throws Exception {
        HttpResponse<String> answer = server.send("POST", IMPORT + step, body);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JSON.readTree(answer.body());
    }

    private void refused(int status, String code, String step, String body) throws Exception {
        HttpResponse<String> answer = server.send("POST", IMPORT + step, body);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(JSON.readTree(answer.body()).path("code").asText()).isEqualTo(code);
    }

    private static String values(String... values) {
        StringBuilder body = new StringBuilder("{\"values\":[");
        for (String value : values) {
            body.append(body.toString().endsWith("[") ? "\"" : ",\"")
                    .append(Base64.getEncoder().encodeToString(value.getBytes()))
                    .append('"');
        }
        return body.append("]}").toString();
    }

    @Test
    void aDocumentIsExportedAndImportedWhole() throws Exception {
        assertThat(done(
                                "whole&first=7",
                                "{\"attributes\":{\"ttl\":60,\"content-type\":\"text/x\"},\"values\":[\"YQ==\",\"\"]}")
                        .path("next")
                        .asLong())
                .isEqualTo(9);
        JsonNode export = JSON.readTree(server.get("/v1/export/a/b").body());
        assertThat(export.path("first").asLong()).isEqualTo(7);
        assertThat(export.path("next").asLong()).isEqualTo(9);
        assertThat(export.path("bytes").asLong()).isEqualTo(1);
        assertThat(export.path("attributes").toString())
                .isIn("{\"content-type\":\"text/x\",\"ttl\":60}", "{\"ttl\":60,\"content-type\":\"text/x\"}");
        refused(409, "exists", "whole&first=7", TEXT);
        assertThat(done("whole&first=3&replace=true", TEXT).path("next").asLong())
                .isEqualTo(3);
        assertThat(server.get("/v1/export/absent").statusCode()).isEqualTo(404);
    }

    @Test
    void inPartsItIsVisibleAtItsEndAndNoPartCountsTwice() throws Exception {
        long id = done("begin&first=5", TEXT).path("id").asLong();
        String add = "add&id=" + id + "&sequence=5";
        assertThat(done(add, values("a", "b")).path("next").asLong()).isEqualTo(7);
        refused(409, "sequence_conflict", add, values("a", "b"));
        assertThat(server.get("/v1/stream/a/b?offset=-1").statusCode()).isEqualTo(503);
        refused(409, "sequence_conflict", "end&id=" + id + "&sequence=6", null);
        assertThat(done("end&id=" + id + "&sequence=7", null).path("next").asLong())
                .isEqualTo(7);
        assertThat(server.get("/v1/stream/a/b?offset=-1").body()).isEqualTo("ab");
        refused(409, "changed", "add&id=" + id + "&sequence=7", values("c"));
        assertThat(done("abort&id=" + id, null).path("aborted").asBoolean()).isFalse();
        assertThat(server.get("/v1/stream/a/b?offset=-1").body()).isEqualTo("ab");
    }

    @Test
    void whatWasBegunCanBeAborted() throws Exception {
        long id = done("begin&first=0", TEXT).path("id").asLong();
        assertThat(done("abort&id=" + id, null).path("aborted").asBoolean()).isTrue();
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
    void whatMakesNoSenseChangesNothing(String step, String body, String code) throws Exception {
        refused(400, code, step, body);
        assertThat(server.get("/v1/export/a/b").statusCode()).isEqualTo(404);
    }

    @Test
    void whoMayReadExportsAndWhoMayWriteImports() throws Exception {
        Path users = Files.writeString(
                directory.resolve("users"),
                "reader.secret = only-reads\nreader.permissions = read\n"
                        + "writer.secret = only-writes\nwriter.permissions = write\nwriter.prefixes = a/\n");
        try (HttpFixture closed = new HttpFixture(
                ListStore.inMemory(), FileAuthenticator.ofSecrets(users), HttpFixture.LONG, HttpFixture.LONG)) {
            closed.serve();
            String[] reader = {"Authorization", "Bearer only-reads"};
            String[] writer = {"Authorization", "Bearer only-writes"};
            String bring = IMPORT + "whole&first=0";
            assertThat(closed.send("POST", bring, TEXT).statusCode()).isEqualTo(401);
            assertThat(closed.send("POST", bring, TEXT, reader).statusCode()).isEqualTo(403);
            assertThat(closed.send("POST", "/v1/import/b?step=whole&first=0", TEXT, writer)
                            .statusCode())
                    .isEqualTo(403);
            assertThat(closed.send("POST", bring, TEXT, writer).statusCode()).isEqualTo(200);
            assertThat(closed.send("GET", "/v1/export/a/b", null).statusCode()).isEqualTo(401);
            assertThat(closed.send("GET", "/v1/export/a/b", null, writer).statusCode())
                    .isEqualTo(403);
            assertThat(closed.send("GET", "/v1/export/a/b", null, reader).statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void limitsAreThoseOfValuesAndWrites() throws Exception {
        String greatest = "x".repeat(HttpFixture.MAX_BODY_BYTES);
        done("whole&first=0", values(greatest, greatest));
        refused(413, "value_too_large", "whole&first=0&replace=true", values(greatest + "x"));
        refused(413, "too_many_messages", "whole&first=0&replace=true", values(greatest, greatest, greatest, greatest));
        HttpResponse<String> tooLong =
                server.send("POST", IMPORT + "whole&first=0&replace=true", values("x".repeat(2 * 1024 * 1024)));
        assertThat(tooLong.statusCode()).isEqualTo(413);
        assertThat(tooLong.body()).contains("body_too_large");
        String page = server.get("/v1/values/a/b?offset=-1&whole=true").body();
        assertThat(JSON.readTree(page).path("values").get(1).path("base64").binaryValue())
                .hasSize(HttpFixture.MAX_BODY_BYTES);
    }

    private HttpResponse<String> move(String step) throws Exception {
        return server.send("POST", "/v1/move/a/b?step=" + step, null);
    }

    @Test
    void aDocumentThatIsMovedIsFencedThenElsewhere() throws Exception {
        done("whole&first=7", values("x"));
        assertThat(move("fence&holder=5&to=other:6380%20http://other:4437").body())
                .contains("\"first\":7", "\"next\":8");
        HttpResponse<String> fenced =
                server.send("POST", "/v1/stream/a/b", "y", "Content-Type", "application/octet-stream");
        assertThat(fenced.statusCode()).isEqualTo(503);
        assertThat(fenced.body()).contains("\"code\":\"moving\"");
        assertThat(fenced.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(server.get("/v1/stream/a/b?offset=-1").statusCode()).isEqualTo(200);
        assertThat(move("redirect&holder=4").statusCode()).isEqualTo(409);
        assertThat(move("redirect&holder=5").body()).isEqualTo("{\"to\":\"other:6380 http://other:4437\"}");

        HttpResponse<String> read = server.get("/v1/stream/a/b?offset=-1");
        assertThat(read.statusCode()).isEqualTo(307);
        assertThat(read.headers().firstValue("Location")).hasValue("http://other:4437/v1/stream/a/b?offset=-1");
        assertThat(read.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(read.body()).contains("\"code\":\"moved\"");
        assertThat(server.send("POST", "/v1/stream/a/b", "y", "Content-Type", "text/plain")
                        .statusCode())
                .isEqualTo(307);
        HttpResponse<String> batch = server.send(
                "POST",
                "/v1/batch",
                "{\"changes\":[{\"path\":\"/v1/stream/a/b\",\"delete\":true}]}",
                "Content-Type",
                "application/json");
        assertThat(batch.statusCode()).as(batch.body()).isEqualTo(421);
        assertThat(batch.body()).contains("\"code\":\"moved\"", "because of change 1");
        refused(307, "moved", "whole&first=7", "");
        done("whole&first=7&replace=redirect", values("x"));
        assertThat(server.get("/v1/stream/a/b?offset=-1").body()).isEqualTo("x");
    }

    @Test
    void whereADocumentIsThatHasMovedIsToldWhereHttpIsNotKnown() throws Exception {
        done("whole&first=7", values("x"));
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
    void aDocumentThatWasBroughtGoesOn() throws Exception {
        done("whole&first=7", values("x"));
        long id = JSON.readTree(server.get("/v1/export/a/b").body()).path("id").asLong();
        assertThat(done("continue&first=8&sequence=8&id=" + id, values("y"))
                        .path("next")
                        .asLong())
                .isEqualTo(9);
        assertThat(server.get("/v1/stream/a/b?offset=-1").body()).isEqualTo("y");
        refused(409, "sequence_conflict", "continue&first=8&sequence=8&id=" + id, values("y"));
        assertThat(done("delete&id=" + (id + 1), "").path("deleted").asBoolean())
                .isFalse();
        assertThat(done("delete&id=" + id, "").path("deleted").asBoolean()).isTrue();
    }
}
