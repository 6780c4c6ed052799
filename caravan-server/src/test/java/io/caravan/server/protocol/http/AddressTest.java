package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.DocumentName;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that clients and proxies that normalize a document's URL do not turn it into another document's URL. */
class AddressTest {
    private static final List<String> SEGMENTS =
            List.of("", ".", "..", "...", "a", "~", "%2e", "%", "__ds", "__name", "~2E", "..;a", "\\", "\u00e9");

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
    }

    private static List<String> names() {
        List<String> names = new ArrayList<>(SEGMENTS);
        List<String> last = SEGMENTS;
        for (int length = 2; length <= 4; length++) {
            List<String> longer = new ArrayList<>();
            for (String beginning : last) {
                SEGMENTS.forEach(segment -> longer.add(beginning + "/" + segment));
            }
            names.addAll(longer);
            last = longer;
        }
        names.remove("");
        return names;
    }

    private static String rest(String path) {
        return path.substring(StreamName.PREFIX.length());
    }

    /** Normalizes a path as browsers and the URL standard do. Other clients, such as httpx and curl, do less. */
    private static String asBrowsersSend(String path) {
        List<String> kept = new ArrayList<>();
        String[] segments = path.substring(1).split("/", -1);
        for (int i = 0; i < segments.length; i++) {
            String dots = segments[i].replace("%2e", ".").replace("%2E", ".");
            if (dots.equals("..") && !kept.isEmpty()) {
                kept.remove(kept.size() - 1);
            }
            boolean dotted = dots.equals(".") || dots.equals("..");
            if (!dotted) {
                kept.add(segments[i]);
            } else if (i == segments.length - 1) {
                kept.add("");
            }
        }
        return "/" + String.join("/", kept);
    }

    /** Normalizes a path as some proxies do: they decode it, remove dots and empty segments, and encode it again. */
    private static String asProxiesSend(String path) {
        String decoded = new String(StreamName.percentDecode(path, "a path"), ISO_8859_1);
        String merged = asBrowsersSend(decoded.replaceAll("/{2,}", "/")).replaceAll("/{2,}", "/");
        return StreamName.percentEncode(merged.getBytes(ISO_8859_1));
    }

    @Test
    void normalizedUrlStillNamesSameDocument() {
        Map<String, String> owners = new HashMap<>();
        for (String name : names()) {
            DocumentName document = DocumentName.of(name.getBytes(UTF_8));
            String path = StreamName.path(document);
            assertThat(owners.put(path, name)).as(path).isNull();
            assertThat(StreamName.of(rest(path))).as(path).isEqualTo(document);
            assertThat(asBrowsersSend(path)).as(name).isEqualTo(path);
            if (!name.contains("%2e")) {
                assertThat(StreamName.of(rest(asProxiesSend(path)))).as(path).isEqualTo(document);
            }
            if (!name.matches("\\.{1,2}")) {
                String plain = "/" + StreamName.encodePlainly(document.toBytes());
                assertThat(asBrowsersSend(plain)).as(name).isEqualTo(plain);
                assertThat(StreamName.percentDecode(plain.substring(1), "a path"))
                        .isEqualTo(document.toBytes());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "rooms/../payroll, __name/rooms~2F~2E~2E~2Fpayroll",
        ".., __name/~2E~2E",
        "a//b, __name/a~2F~2Fb",
        "a/b/, a/b/",
        "..a/b.., ..a/b..",
        "__ds/~, __name/__ds~2F~7E",
        "__name/x, __name/__name~2Fx",
        "__name, __name"
    })
    void escapesAmbiguousNames(String name, String path) {
        assertThat(StreamName.path(DocumentName.of(name))).isEqualTo(StreamName.PREFIX + path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rooms/../payroll",
                "rooms/%2e%2E/payroll",
                "rooms/.%2e/payroll",
                "./payroll",
                "%2e/payroll",
                "payroll/.",
                "..",
                "payroll/x/.."
            })
    void rejectsPathsWithDotSegments(String path) throws Exception {
        rpush("payroll", "the only value");
        rpush("rooms/../payroll", "another's");
        for (String method : List.of("GET", "PUT", "POST", "DELETE")) {
            RawClient.Response rejected =
                    server.ask(RawClient.get("/v1/stream/" + path).replace("GET", method));
            assertThat(rejected.status()).isEqualTo(400);
            assertThat(rejected.body()).contains("dot_segment", "the path of this name is __name/");
        }
        assertThat(server.get("/v1/stream/payroll").body()).isEqualTo("the only value");
    }

    private void rpush(String name, String value) throws Exception {
        String path = StreamName.path(DocumentName.of(name));
        assertThat(server.status("PUT", path, value, "Content-Type", "text/plain"))
                .isEqualTo(201);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "__name/",
                "__name/payroll",
                "__name/~2e~2e",
                "__name/a~2F..~2Fb",
                "__name/~2E~2",
                "__name/%252E%252E",
                "__name/~2E~2E/x"
            })
    void rejectsNonCanonicalEscapes(String rest) {
        assertThatThrownBy(() -> StreamName.of(rest))
                .isInstanceOf(Problem.class)
                .extracting(problem -> ((Problem) problem).code())
                .isEqualTo("malformed_url");
    }

    /** The server must accept an escaped name whose escapes a client has percent-encoded. */
    @Test
    void acceptsPercentEncodedEscapes() {
        assertThat(StreamName.of("__name%2F%7E2E%7e2E")).isEqualTo(DocumentName.of(".."));
        assertThat(StreamName.of("rooms%2F..%2Fpayroll")).isEqualTo(DocumentName.of("rooms/../payroll"));
    }

    @Test
    void returnedPathsAreAccepted() throws Exception {
        rpush("rooms/../payroll", "another's");
        rpush("payroll", "the only value");
        String listed = server.get("/v1/documents?prefix=rooms").body();
        assertThat(listed).contains("\"path\":\"/v1/stream/__name/rooms~2F~2E~2E~2Fpayroll\"");
        String path = "/v1/stream/__name/rooms~2F~2E~2E~2Fpayroll";
        assertThat(server.get(path).body()).isEqualTo("another's");
        HttpResponse<String> batch = server.send(
                "POST", "/v1/batch", "{\"operations\": [{\"path\": \"" + path + "\", \"append\": [\" value\"]}]}");
        assertThat(batch.body()).contains("\"path\":\"" + path + "\"");
        HttpResponse<String> plain = server.send(
                "POST",
                "/v1/batch",
                "{\"operations\": [{\"path\": \"/v1/stream/rooms/../payroll\", \"delete\": true}]}");
        assertThat(plain.statusCode()).isEqualTo(400);
        assertThat(plain.body()).contains("dot_segment");
        assertThat(server.status("DELETE", path, null)).isEqualTo(204);
        assertThat(server.get("/v1/stream/payroll").body()).isEqualTo("the only value");
    }

    @Test
    void spacesUseEscapedPaths() throws Exception {
        String settings = "{\"retain-values\": 3}";
        String escaped = "/v1/spaces/__name/rooms~2F~2E~2E~2F";
        HttpResponse<String> made = server.send("PUT", escaped, settings);
        assertThat(made.body()).contains("\"prefix\":\"rooms/../\"", "\"path\":\"" + escaped + "\"");
        RawClient.Response rejected = server.ask("DELETE /v1/spaces/rooms/../ HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assertThat(rejected.body()).contains("dot_segment");
        assertThat(server.status("DELETE", escaped, null)).isEqualTo(204);
    }
}
