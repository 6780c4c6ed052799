package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A server's pages over HTTP: those that tell of the server. Follows no redirect and takes no proxy. For one thread. */
public final class HttpPages {
    private static final int OK = 200;
    private static final int MAX_BYTES = 8 * 1024 * 1024;

    private final HttpClient client;
    private final String base;
    private final @Nullable String token;
    private final Duration timeout;
    private boolean known;

    /** An answer: its status, and its body. */
    public record Page(int status, byte[] body) {}

    /**
     * Pages at an address.
     *
     * @param authorities whom to trust, or null for Java's defaults
     * @param token what the server knows the user by, or null
     */
    HttpPages(
            HostPort address, boolean tls, @Nullable SSLContext authorities, @Nullable String token, Duration timeout) {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .proxy(ProxySelector.of(null))
                .connectTimeout(timeout);
        if (authorities != null) {
            builder.sslContext(authorities);
        }
        client = builder.build();
        base = (tls ? "https://" : "http://") + address;
        this.token = token;
        this.timeout = timeout;
    }

    /**
     * Fetches a page. Before the token is sent for the first time, whoever answers must have said that it is a server of
     * ours: the port may be another program's.
     *
     * @throws IOException when nobody answers in time, or another program, or with more than {@value #MAX_BYTES} bytes
     */
    public Page get(String path) throws IOException {
        if (!known) {
            Page alive = fetch("/healthz", null);
            if (alive.status() != OK || !new String(alive.body(), UTF_8).contains("\"alive\"")) {
                throw new IOException("what answers at " + base + " is no caravan server");
            }
            known = true;
        }
        return fetch(path, token);
    }

    private Page fetch(String path, @Nullable String bearer) throws IOException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(base + path)).timeout(timeout);
        if (bearer != null) {
            if (!bearer.chars().allMatch(letter -> letter >= ' ' && letter <= '~')) {
                throw new IOException("a password with other than ASCII characters cannot be sent over HTTP");
            }
            request.header("Authorization", "Bearer " + bearer);
        }
        try {
            return fetch(request.build());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", stop);
        }
    }

    private Page fetch(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<InputStream> response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream in = response.body()) {
            byte[] body = in.readNBytes(MAX_BYTES + 1);
            if (body.length > MAX_BYTES) {
                throw new IOException(request.uri() + " is longer than " + MAX_BYTES + " bytes");
            }
            return new Page(response.statusCode(), body);
        }
    }
}
