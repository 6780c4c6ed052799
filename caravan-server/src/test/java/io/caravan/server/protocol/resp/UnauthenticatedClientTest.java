package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.security.Authenticator;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Tests the memory and time limits for clients that have not authenticated. */
class UnauthenticatedClientTest extends RespTestBase {
    @Override
    RespFixture newFixture() throws IOException {
        return new RespFixture(
                ListStore.inMemory(),
                Authenticator.ofPassword("secret".getBytes(UTF_8)),
                ServerFixture.MAX_REQUEST_BYTES,
                Duration.ofSeconds(2));
    }

    private void endsWith(String error, String sent) throws IOException {
        try (RespClient client = fixture.connect()) {
            client.sendRaw(sent.getBytes(UTF_8));
            assertThat(client.read()).as(sent.substring(0, 8)).isEqualTo("-ERR Protocol error: " + error);
            assertThat(client.atEnd()).isTrue();
        }
    }

    @Test
    void limitsUnauthenticatedRequestSize() throws IOException {
        endsWith("unauthenticated multibulk length", "*17\r\n$4\r\n");
        endsWith("unauthenticated bulk length", "*2\r\n$16384\r\n");
        endsWith("unauthenticated bulk length", "*2\r\n$8000\r\n" + "x".repeat(8000) + "\r\n$8400\r\n");
        endsWith("unauthenticated multibulk length", "x ".repeat(17) + "\r\n");
        endsWith("too big inline request", "x".repeat(17_000));
        replies("-NOAUTH Authentication required.", "RPUSH", "k", "x".repeat(16_000));
    }

    @Test
    void acceptsLargeRequestPipelinedAfterAuth() throws IOException {
        String[] push = new String[100];
        Arrays.fill(push, "v".repeat(10_000));
        push[0] = "RPUSH";
        push[1] = "k";
        client.send("AUTH", "secret");
        client.send(push);
        client.reads("+OK", ":98");
    }

    @Test
    void disconnectsClientThatDoesNotAuthenticateInTime() throws IOException {
        try (RespClient known = fixture.connect()) {
            assertThat(known.call("AUTH", "secret")).isEqualTo("+OK");
            assertThat(client.read())
                    .isEqualTo("-NOAUTH Authentication required: the client did not authenticate in time");
            assertThat(client.atEnd()).isTrue();
            assertThat(known.call("PING")).isEqualTo("+PONG");
        }
    }
}
