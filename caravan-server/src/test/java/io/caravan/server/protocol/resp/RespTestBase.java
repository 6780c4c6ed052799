package io.caravan.server.protocol.resp;

import java.io.IOException;
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

    final void replies(String expected, String... words) throws IOException {
        client.replies(expected, words);
    }

    final void fails(String expectedStart, String... words) throws IOException {
        client.fails(expectedStart, words);
    }

    /** Sends a command repeatedly until the reply is {@code expected}, and fails after a timeout. */
    final void becomes(String expected, String... words) {
        client.await(expected::equals, words);
    }
}
