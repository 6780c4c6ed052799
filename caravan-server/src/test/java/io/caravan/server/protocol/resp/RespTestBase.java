package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A base class that starts a server with one client for each test. */
abstract class RespTestBase {
    RespFixture fixture;
    RespClient client;

    @BeforeEach
    final void start() throws IOException {
        fixture = newFixture();
        client = fixture.connect();
    }

    RespFixture newFixture() throws IOException {
        return new RespFixture();
    }

    @AfterEach
    final void stop() throws IOException {
        client.close();
        fixture.close();
    }

    final void answers(String expected, String... words) throws IOException {
        assertThat(client.call(words)).as(String.join(" ", words)).isEqualTo(expected);
    }

    final void fails(String expectedStart, String... words) throws IOException {
        assertThat(client.call(words)).as(String.join(" ", words)).startsWith("-" + expectedStart);
    }

    /** Sends a command until the reply is {@code expected}, and fails after a timeout. */
    final void becomes(String expected, String... words) {
        Eventually.await(String.join(" ", words) + " is " + expected, () -> {
            try {
                return client.call(words).equals(expected);
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        });
    }
}
