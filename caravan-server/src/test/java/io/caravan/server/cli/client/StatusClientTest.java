package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.caravan.server.cli.client.HttpLink.StatusClient;
import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests to which servers a status client sends its token, and which responses it accepts. */
class StatusClientTest {
    private HttpServer server;
    private final List<String> tokens = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void page(String path, int status, byte[] body) {
        server.createContext(path, exchange -> {
            tokens.add(path + " " + exchange.getRequestHeaders().getFirst("Authorization"));
            exchange.getResponseHeaders().add("Location", "/elsewhere");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    private StatusClient pages(String token) {
        HostPort address = new HostPort("127.0.0.1", server.getAddress().getPort());
        return new StatusClient(new HttpLink(URI.create("http://" + address), null, token, Duration.ofSeconds(60)));
    }

    @Test
    void sendsTokenAfterServerIsIdentified() throws IOException {
        page("/healthz", 200, "{\"status\":\"alive\"}".getBytes(UTF_8));
        page("/metrics", 200, "m 1".getBytes(UTF_8));
        StatusClient pages = pages("secret");
        assertThat(pages.get("/metrics").body()).asString(UTF_8).isEqualTo("m 1");
        pages.get("/metrics");
        assertThat(tokens).containsExactly("/healthz null", "/metrics Bearer secret", "/metrics Bearer secret");
    }

    @Test
    void sendsNoTokenToNonCaravanServer() {
        page("/", 200, "hello".getBytes(UTF_8));
        assertThatThrownBy(() -> pages("secret").get("/metrics")).hasMessageContaining("is not a Caravan server");
        assertThat(tokens).containsExactly("/ null");
    }

    @Test
    void ignoresRedirectsAndRejectsLongResponses() throws IOException {
        page("/healthz", 200, "{\"status\":\"alive\"}".getBytes(UTF_8));
        page("/moved", 302, new byte[1]);
        page("/long", 200, new byte[8 * 1024 * 1024 + 1]);
        StatusClient pages = pages("secret");
        assertThat(pages.get("/moved").status()).isEqualTo(302);
        assertThatThrownBy(() -> pages.get("/long")).hasMessageContaining("is longer than");
        assertThat(tokens).noneMatch(each -> each.startsWith("/elsewhere"));
    }

    @Test
    void errorDoesNotRevealInvalidPassword() {
        page("/healthz", 200, "{\"status\":\"alive\"}".getBytes(UTF_8));
        assertThatThrownBy(() -> pages("sec\nret").get("/metrics"))
                .hasMessage("a password with other than ASCII characters cannot be sent over HTTP");
    }
}
