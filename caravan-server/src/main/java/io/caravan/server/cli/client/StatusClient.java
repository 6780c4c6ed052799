package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;

/** Reads a server's diagnostic pages over HTTP. Not thread-safe. */
public final class StatusClient {
    private static final int OK = 200;
    private static final int MAX_BYTES = 8 * 1024 * 1024;

    private final HttpLink link;
    private boolean known;

    public record Page(int status, byte[] body) {}

    StatusClient(HttpLink link) {
        this.link = link;
    }

    /**
     * Fetches a page. Before the first use of the token, checks that the port belongs to a Caravan server and not to
     * another program.
     *
     * @throws IOException if no server responds in time, the response is from another program, or it exceeds
     *     {@value #MAX_BYTES} bytes
     */
    public Page get(String path) throws IOException {
        if (!known) {
            Page alive = fetch("/healthz", false);
            if (alive.status() != OK || !new String(alive.body(), UTF_8).contains("\"alive\"")) {
                throw new IOException("what answers at " + link.base() + " is no caravan server");
            }
            known = true;
        }
        return fetch(path, true);
    }

    private Page fetch(String path, boolean withToken) throws IOException {
        try (HttpLink.Answer answer = link.send("GET", path, new byte[0], withToken)) {
            byte[] body = answer.body().readNBytes(MAX_BYTES + 1);
            if (body.length > MAX_BYTES) {
                throw new IOException(link.base() + path + " is longer than " + MAX_BYTES + " bytes");
            }
            return new Page(answer.status(), body);
        }
    }
}
