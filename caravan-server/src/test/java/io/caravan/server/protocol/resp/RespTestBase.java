package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** One client of a server of its own for each test. */
abstract class RespTestBase {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

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

    /** Asks until the answer is what it is to become; fails after a while. */
    final void becomes(String expected, String... words) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        String answer = client.call(words);
        while (!answer.equals(expected) && System.nanoTime() < deadline) {
            // Asking without a pause would take a core from what is waited for.
            LockSupport.parkNanos(LOOK_NANOS);
            answer = client.call(words);
        }
        assertThat(answer).as(String.join(" ", words)).isEqualTo(expected);
    }
}
