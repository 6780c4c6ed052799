package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.backup.Backups;
import io.caravan.server.config.Setting;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.security.TestUsers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the requests that the console and other operator tools send, and the permissions that they require. */
class OperatorRequestsTest {
    private static final String[] ADMIN = {"Authorization", "Bearer administers", "Content-Type", "text/plain"};
    private static final String[] EDITOR = {"Authorization", "Bearer reads-and-writes", "Content-Type", "text/plain"};

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        TestUsers users = new TestUsers("admin.secret = administers\nadmin.permissions = read, write, admin\n"
                + "editor.secret = reads-and-writes\neditor.permissions = read, write\neditor.prefixes = mine/\n");
        server = HttpFixture.guarded(users.authenticator);
        server.server.serve(new HttpProtocol.Services(
                server.documents,
                null,
                null,
                Backups.none(),
                () -> Stream.of(new ClientInfo("resp", "127.0.0.1:5", "a name", "editor", "", 7)),
                List.of(new Setting("data", "/data", "command line"))));
    }

    private HttpResponse<String> get(String path, String... user) throws Exception {
        return server.send("GET", path, null, user);
    }

    private Map<String, Object> json(String path, String... user) throws Exception {
        HttpResponse<String> response = get(path, user);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JsonTree.parse(response.body());
    }

    private void put(String name, String... values) throws Exception {
        assertThat(server.status("PUT", "/v1/stream/" + name, null, ADMIN)).isEqualTo(201);
        for (String value : values) {
            server.send("POST", "/v1/stream/" + name, value, ADMIN);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/store", "/v1/clients", "/v1/settings", "/v1/archive", "/v1/spaces", "/v1/stats"})
    void operatorEndpointsRequireAdmin(String path) throws Exception {
        assertThat(get(path).statusCode()).isEqualTo(401);
        assertThat(get(path, EDITOR).statusCode()).isEqualTo(403);
        assertThat(get(path, ADMIN).statusCode()).isEqualTo(200);
    }

    @Test
    void listsClientsOfAllProtocols() throws Exception {
        assertThat(get("/v1/clients", ADMIN).body())
                .contains("\"protocol\":\"resp\",\"address\":\"127.0.0.1:5\",\"name\":\"a name\",\"user\":\"editor\"")
                .contains("\"protocol\":\"http\",\"address\":\"127.0.0.1:");
        assertThat(json("/v1/stats", ADMIN)).containsEntry("respConnections", 1).containsKey("requests");
    }

    @Test
    void returnsSettingsAndStoreLayout() throws Exception {
        assertThat(get("/v1/settings", ADMIN).body())
                .isEqualTo("{\"settings\":[{\"name\":\"data\",\"value\":\"/data\",\"source\":\"command line\"}]}");
        assertThat(json("/v1/store", ADMIN)).containsKeys("heap", "log").containsEntry("pinsComplete", true);
    }

    @Test
    void reportsMissingArchive() throws Exception {
        assertThat(json("/v1/archive", ADMIN)).containsEntry("archive", null);
        HttpResponse<String> none = get("/v1/archive/stream/mine/a", EDITOR);
        HttpFixture.assertProblem(none, 404, "no_archive");
        assertThat(none.body()).contains("--archive");
        assertThat(get("/v1/archive/stream/others", EDITOR).statusCode()).isEqualTo(403);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mine/a?generation=1", "others/a", "mine/a?as=others/b"})
    void rejectsRestoreWithoutPermission(String path) throws Exception {
        assertThat(server.status("POST", "/v1/archive/stream/" + path, null, EDITOR))
                .isEqualTo(403);
    }

    @Test
    void countsDocumentsByPrefix() throws Exception {
        put("mine/a/1", "x");
        put("mine/a/2", "xyz");
        put("mine/b", "four", "five!");
        put("others/c");
        Map<String, Object> page = json("/v1/documents?prefix=mine/&delimiter=/&sizes=true", EDITOR);
        assertThat(page.get("prefixes")).isEqualTo(Map.of("mine/a/", 2));
        assertThat(page.get("documents").toString())
                .contains("name=mine/b", "values=2", "bytes=9")
                .doesNotContain("mine/a");
        assertThat(json("/v1/documents?delimiter=/", EDITOR).get("prefixes"))
                .as("only those that the client may read")
                .isEqualTo(Map.of("mine/", 3));
        assertThat(json("/v1/documents", EDITOR)).doesNotContainKey("prefixes");
    }

    @Test
    void readsValuesInPages() throws Exception {
        put("mine/a", "one", "two", "three");
        Map<String, Object> page = json("/v1/values/mine/a?limit=2", EDITOR);
        assertThat(page).containsEntry("nextSequence", 3).containsEntry("bytes", 11);
        assertThat(texts(page)).containsExactly("one", "two");
        assertThat(texts(json("/v1/values/mine/a?offset=" + page.get("continueAt"), EDITOR)))
                .containsExactly("three");
        assertThat(texts(json("/v1/values/mine/a?newest=true&limit=2", EDITOR))).containsExactly("two", "three");
        String raw = "/v1/values/mine/a?raw=true&offset=";
        assertThat(get(raw + page.get("continueAt"), EDITOR).body()).isEqualTo("three");
        assertThat(get(raw + page.get("nextOffset"), EDITOR).statusCode()).isEqualTo(404);
        assertThat(get("/v1/values/mine/none", EDITOR).statusCode()).isEqualTo(404);
        assertThat(get("/v1/values/others", EDITOR).statusCode()).isEqualTo(403);
        assertThat(get("/v1/values/mine/a?limit=0", EDITOR).statusCode()).isEqualTo(400);
    }

    @Test
    void limitsSizeOfValuePage() throws Exception {
        String large = "v".repeat(HttpFixture.MAX_BODY_BYTES);
        put("mine/large", large, large, large, large, large, large);
        Map<String, Object> page = json("/v1/values/mine/large", EDITOR);
        assertThat(texts(page)).hasSize(4).allMatch(large::equals);
        assertThat(texts(json("/v1/values/mine/large?offset=" + page.get("continueAt"), EDITOR)))
                .hasSize(2);
    }

    @SuppressWarnings("unchecked")
    private static List<String> texts(Map<String, Object> page) {
        return ((List<Map<String, Object>>) page.get("values"))
                .stream()
                        .map(value -> (String) value.get("base64"))
                        .map(text -> new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8))
                        .toList();
    }
}
