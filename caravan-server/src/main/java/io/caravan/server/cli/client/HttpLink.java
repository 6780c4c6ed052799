package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Sends HTTP requests to one server. Follows no redirects and uses no proxy, so that only this server receives the
 * token. Holds about 32 KiB of a response body in memory. Thread-safe; each response must be used by one thread.
 */
public final class HttpLink {
    private final HttpClient client;
    private final String base;
    private final @Nullable String token;
    private final Duration timeout;

    /**
     * A response whose body has not been read yet, and which must be closed.
     *
     * @param body the body; reading it fails if no data arrives in time, or the connection is lost before the end
     */
    public record Response(int status, HttpHeaders headers, InputStream body) implements Closeable {
        /** Returns the header's first value, or null if the header is absent. */
        public @Nullable String header(CharSequence name) {
            return headers.firstValue(name.toString()).orElse(null);
        }

        @Override
        public void close() throws IOException {
            body.close();
        }
    }

    /**
     * Creates a link to a base address; sends nothing yet.
     *
     * @param authorities the certificate authorities to trust, or null for Java's defaults
     * @param token the user's bearer token, or null
     * @param timeout the maximum time to connect, to wait until the response begins, and to wait for each further part
     *     of the response
     */
    public HttpLink(URI base, @Nullable SSLContext authorities, @Nullable String token, Duration timeout) {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .proxy(ProxySelector.of(null))
                .connectTimeout(timeout);
        if (authorities != null) {
            builder.sslContext(authorities);
        }
        this.client = builder.build();
        this.base = base.toString().replaceFirst("/+\\z", "");
        this.token = token;
        this.timeout = timeout;
    }

    /** Returns the address that precedes all paths, without a trailing slash. */
    public String base() {
        return base;
    }

    /**
     * Sends a request and waits until its response begins.
     *
     * @param path the path with a leading slash, and the query
     * @param withToken whether to authenticate
     * @param headers alternating names and values
     * @throws IOException if the server cannot be reached, or does not respond in time; the message states the problem
     */
    public Response send(String method, String path, byte[] body, boolean withToken, String... headers)
            throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path))
                .timeout(timeout)
                .method(method, body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        if (withToken && token != null) {
            if (!token.chars().allMatch(letter -> letter >= ' ' && letter <= '~')) {
                throw new IOException("a password with other than ASCII characters cannot be sent over HTTP");
            }
            request.header("Authorization", "Bearer " + token);
        }
        try {
            HttpResponse<InputStream> response = client.send(request.build(), head -> new TimedBody());
            return new Response(response.statusCode(), response.headers(), response.body());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", stop);
        } catch (HttpTimeoutException slow) {
            throw new IOException(base + " has not responded for " + timeout.toSeconds() + " s", slow);
        } catch (ConnectException unreachable) {
            throw new IOException("no server listens at " + base, unreachable);
        } catch (SSLException unfit) {
            throw new IOException(
                    "TLS with " + base + " failed: " + unfit.getMessage()
                            + "; does the server speak TLS there, and is the authority of its certificate trusted?",
                    unfit);
        } catch (IOException lost) {
            throw new IOException("the connection to " + base + " was lost: " + lost.getMessage(), lost);
        }
    }

    /**
     * The body of a response. Unlike the client library's own stream, it limits the wait for each part, and returns
     * everything that has arrived before a failure.
     */
    private final class TimedBody extends InputStream implements BodySubscriber<InputStream> {
        /** The parts that have not been read yet; an empty one follows the last. */
        private final BlockingQueue<List<ByteBuffer>> arrived = new LinkedBlockingQueue<>();

        /** The subscription; null before it begins, and after the last part has arrived. */
        private volatile @Nullable Subscription subscription;

        private volatile @Nullable Throwable failure;
        private volatile boolean closed;
        private Iterator<ByteBuffer> part = Collections.emptyIterator();
        private ByteBuffer current = ByteBuffer.allocate(0);
        private boolean ended;

        @Override
        public CompletionStage<InputStream> getBody() {
            return CompletableFuture.completedFuture(this);
        }

        @Override
        public void onSubscribe(Subscription begun) {
            subscription = begun;
            if (closed) {
                begun.cancel();
            } else {
                begun.request(1);
            }
        }

        @Override
        public void onNext(List<ByteBuffer> next) {
            arrived.add(next.isEmpty() ? List.of(ByteBuffer.allocate(0)) : next);
        }

        @Override
        public void onError(Throwable problem) {
            failure = problem;
            onComplete();
        }

        @Override
        public void onComplete() {
            subscription = null;
            arrived.add(List.of());
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            while (!current.hasRemaining() && (part.hasNext() || awaitPart())) {
                current = part.next();
            }
            Throwable cut = failure;
            if (!current.hasRemaining() && cut != null) {
                throw new IOException("the response was cut off: " + cut.getMessage(), cut);
            }
            int count = Math.min(length, current.remaining());
            current.get(to, offset, count);
            return count == 0 ? -1 : count;
        }

        /** Waits for the next part, and requests the one after it; returns false after the last part. */
        private boolean awaitPart() throws IOException {
            if (ended) {
                return false;
            }
            try {
                List<ByteBuffer> next = arrived.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
                if (next == null) {
                    throw new IOException("the response stopped: no data for " + timeout.toSeconds() + " s");
                }
                part = next.iterator();
                ended = next.isEmpty();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", stop);
            }
            Subscription more = subscription;
            if (more != null) {
                more.request(1);
            }
            return !ended;
        }

        @Override
        public void close() {
            closed = true;
            Subscription open = subscription;
            if (open != null) {
                open.cancel();
            }
        }
    }

    /** Reads a server's diagnostic pages over HTTP. Not thread-safe. */
    public static final class StatusClient {
        private static final int OK = 200;
        private static final int MAX_BYTES = 8 * 1024 * 1024;

        private final HttpLink link;
        private boolean known;

        public record Page(int status, byte[] body) {}

        StatusClient(HttpLink link) {
            this.link = link;
        }

        /**
         * Fetches a page. Before the first use of the token, checks that the port belongs to a Caravan server and not
         * to another program.
         *
         * @throws IOException if no server responds in time, the response is from another program, or it exceeds
         *     {@value #MAX_BYTES} bytes
         */
        public Page get(String path) throws IOException {
            if (!known) {
                Page alive = fetch("/healthz", false);
                if (alive.status() != OK || !new String(alive.body(), UTF_8).contains("\"alive\"")) {
                    throw new IOException("the server at " + link.base() + " is not a Caravan server");
                }
                known = true;
            }
            return fetch(path, true);
        }

        private Page fetch(String path, boolean withToken) throws IOException {
            try (HttpLink.Response response = link.send("GET", path, new byte[0], withToken)) {
                byte[] body = response.body().readNBytes(MAX_BYTES + 1);
                if (body.length > MAX_BYTES) {
                    throw new IOException(link.base() + path + " is longer than " + MAX_BYTES + " bytes");
                }
                return new Page(response.status(), body);
            }
        }
    }
}
