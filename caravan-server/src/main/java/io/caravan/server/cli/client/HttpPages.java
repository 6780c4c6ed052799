package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;

/** A server's pages over HTTP: those that tell of the server. For one thread. */
public final class HttpPages {
    private static final int OK = 200;
    private static final int MAX_BYTES = 8 * 1024 * 1024;

    private final HttpLink link;
    private boolean known;

    /** An answer: its status, and its body. */
    public record Page(int status, byte[] body) {}

    HttpPages(HttpLink link) {
        this.link = link;
    }

    /**
     * Fetches a page. Before the token is sent for the first time, whoever answers must have said that it is a server of
     * ours: the port may be another program's.
     *
     * @throws IOException when nobody answers in time, or another program, or with more than {@value #MAX_BYTES} bytes
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
