package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.ListStore;
import io.caravan.server.security.Authenticator;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests requests from web pages in a browser, which the server accepts or rejects based on their origin. */
class OriginsTest {
    private static final String PATH = "/v1/stream/a";
    private static final String FOREIGN = "https://example.com";
    private static final String ALLOW_ORIGIN = "access-control-allow-origin";

    private HttpFixture server;

    private void start(Authenticator authenticator, String... allowed) throws IOException {
        server = new HttpFixture(ListStore.inMemory(), authenticator, HttpFixture.LONG, HttpFixture.LONG, allowed);
        server.serve();
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
    }

    private HttpResponse<String> send(String method, String origin) throws Exception {
        return server.send(method, PATH, null, "Origin", origin, "Content-Type", "text/plain");
    }

    private int statusForHost(String host) throws IOException {
        return server.ask("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"http://localhost:3000", "https://app.localhost", "http://127.0.0.1:8080", "http://[::1]:3000"})
    void localPagesCanReadAndWrite(String origin) throws Exception {
        start(Authenticator.open());
        HttpResponse<String> created = send("PUT", origin);
        assertThat(created.statusCode()).isEqualTo(201);
        assertThat(created.headers().firstValue(ALLOW_ORIGIN)).contains(origin);
        assertThat(created.headers().allValues("vary")).containsExactly("origin");
        assertThat(created.headers().firstValue("access-control-expose-headers").orElseThrow())
                .contains("Stream-Next-Offset");
        assertThat(send("OPTIONS", origin).headers().firstValue(ALLOW_ORIGIN)).contains(origin);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                FOREIGN,
                "null",
                "http://localhost.example.com",
                "http://127.0.0.1.example.com",
                "http://evil-localhost:80",
                "http://a@localhost",
                "http://localhost:80/",
                "file://localhost"
            })
    void foreignPagesCannotReadOrWrite(String origin) throws Exception {
        start(Authenticator.open());
        server.create(PATH, "text/plain");
        for (String method : new String[] {"PUT", "POST", "DELETE"}) {
            HttpResponse<String> rejected = send(method, origin);
            assertThat(rejected.statusCode()).as(method).isEqualTo(403);
            assertThat(rejected.body()).contains("\"foreign_origin\"");
            assertThat(rejected.headers().firstValue(ALLOW_ORIGIN)).isEmpty();
        }
        HttpResponse<String> read = send("GET", origin);
        assertThat(read.statusCode()).isEqualTo(200);
        assertThat(read.headers().firstValue(ALLOW_ORIGIN)).isEmpty();
        assertThat(read.headers().allValues("vary")).containsExactly("origin");
        assertThat(read.headers().firstValue("cross-origin-resource-policy")).contains("same-site");
    }

    @Test
    void preflightDoesNotAllowForeignOrigin() throws Exception {
        start(Authenticator.open());
        HttpResponse<String> preflight = send("OPTIONS", FOREIGN);
        assertThat(preflight.statusCode()).isEqualTo(204);
        assertThat(preflight
                        .headers()
                        .firstValue("access-control-allow-headers")
                        .orElseThrow())
                .contains("If-None-Match");
        assertThat(preflight.headers().firstValue(ALLOW_ORIGIN)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"localhost", "LOCALHOST:4437", "app.localhost:1", "127.0.0.1:4437", "127.1.2.3", "[::1]:80"})
    void acceptsLocalHostHeaders(String host) throws Exception {
        start(Authenticator.open());
        assertThat(statusForHost(host)).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"example.com", "localhost.example.com:4437", "10.0.0.1", "[::2]", "", "a@localhost"})
    void rejectsForeignHostHeaders(String host) throws Exception {
        start(Authenticator.open());
        assertThat(statusForHost(host)).isEqualTo(403);
        RawClient.Response rejected = server.ask("OPTIONS " + PATH + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        assertThat(rejected.body()).contains("\"foreign_host\"");
    }

    @Test
    void acceptsAllowedOriginAndItsHost() throws Exception {
        start(Authenticator.open(), "https://app.example:8443");
        assertThat(send("PUT", "https://app.example:8443").statusCode()).isEqualTo(201);
        assertThat(send("GET", "https://app.example:8443").headers().firstValue(ALLOW_ORIGIN))
                .contains("https://app.example:8443");
        assertThat(send("DELETE", "https://app.example").statusCode()).isEqualTo(403);
        assertThat(statusForHost("app.example")).isEqualTo(200);
        assertThat(statusForHost("other.example")).isEqualTo(403);
    }

    private static boolean takesHost(String listensOn, String host, String... allowedHosts) {
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(listensOn), 0);
            HttpConfig config = HttpConfig.of(address, 1, 1 << 20).withAllowed(List.of(), List.of(allowedHosts));
            new Origins(config, false, any -> false).check(HttpMethod.GET, new DefaultHttpHeaders().set("Host", host));
            return true;
        } catch (Problem rejected) {
            assertThat(rejected.code()).isEqualTo("foreign_host");
            return false;
        } catch (UnknownHostException impossible) {
            throw new AssertionError(impossible);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "192.0.2.1", "::"})
    void rejectsForeignHostHeadersOnAnyListenAddress(String listensOn) {
        assertThat(takesHost(listensOn, "evil.example")).isFalse();
        assertThat(takesHost(listensOn, "evil.example:4437", "caravan")).isFalse();
        assertThat(takesHost(listensOn, "Caravan:4437", "other.example", "caravan"))
                .isTrue();
        assertThat(takesHost(listensOn, "evil.example", "*")).isTrue();
        assertThat(takesHost(listensOn, "192.0.2.1:4437")).isTrue();
        assertThat(takesHost(listensOn, "[2001:db8::1]:4437")).isTrue();
        assertThat(takesHost(listensOn, "localhost:4437")).isTrue();
    }

    @Test
    void acceptsAllowedHostNamesOnLoopback() {
        assertThat(takesHost("127.0.0.1", "caravan.example")).isFalse();
        assertThat(takesHost("127.0.0.1", "caravan.example", "caravan.example")).isTrue();
        assertThat(takesHost("127.0.0.1", "192.0.2.1", "caravan.example")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Caravan", "caravan:80", "http://caravan", "a b", "**"})
    void rejectsInvalidAllowedHosts(String name) {
        HttpConfig config = HttpConfig.of(new InetSocketAddress(0), 1, 1 << 20);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> config.withAllowed(List.of(), List.of(name)))
                .withMessageContaining("'" + name + "'");
    }

    @Test
    void wildcardAllowsAllOriginsAndHosts() throws Exception {
        start(Authenticator.open(), "*");
        HttpResponse<String> created = send("PUT", FOREIGN);
        assertThat(created.statusCode()).isEqualTo(201);
        assertThat(created.headers().firstValue(ALLOW_ORIGIN)).contains("*");
        assertThat(statusForHost("example.com")).isEqualTo(200);
    }

    @Test
    void allowsAllOriginsWhenTokenIsRequired() throws Exception {
        start(Authenticator.ofPassword("secret".getBytes(UTF_8)));
        HttpResponse<String> stranger = send("PUT", FOREIGN);
        assertThat(stranger.statusCode()).isEqualTo(401);
        assertThat(stranger.headers().firstValue(ALLOW_ORIGIN)).contains("*");
        HttpResponse<String> created = server.send(
                "PUT", PATH, null, "Origin", FOREIGN, "Content-Type", "text/plain", "Authorization", "Bearer secret");
        assertThat(created.statusCode()).isEqualTo(201);
        assertThat(created.headers().firstValue("cross-origin-resource-policy")).contains("cross-origin");
        assertThat(statusForHost("example.com")).isEqualTo(200);
    }
}
