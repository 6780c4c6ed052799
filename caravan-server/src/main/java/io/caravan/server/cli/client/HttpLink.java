package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Objects;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sends HTTP requests to one server. Follows no redirects and uses no proxy, so that only this server receives the
 * token. Does not hold the body of a response in memory. Thread-safe; each response must be used by one thread.
 */
public final class HttpLink {
    private static final int MIN_ERROR = 400;

    private final String base;
    private final @Nullable SSLSocketFactory tls;
    private final @Nullable String token;
    private final Duration timeout;

    /**
     * A response whose body has not been read yet, and which must be closed.
     *
     * @param body the body; reading it fails if no data arrives in time, or the connection is lost before the end
     */
    public record Response(HttpURLConnection connection, int status, InputStream body) implements Closeable {
        /** Returns the header's value, or null if the header is absent. */
        public @Nullable String header(CharSequence name) {
            return connection.getHeaderField(name.toString());
        }

        @Override
        public void close() throws IOException {
            body.close();
        }
    }

    /**
     * Creates a link to a base address; sends nothing yet.
     *
     * @param tls the sockets for {@code https://}, otherwise null
     * @param token the user's bearer token, or null
     * @param timeout the maximum time to connect, to wait until the response begins, and to wait for each further part
     *     of the response
     */
    public HttpLink(URI base, @Nullable SSLSocketFactory tls, @Nullable String token, Duration timeout) {
        this.base = base.toString().replaceFirst("/+\\z", "");
        this.tls = tls;
        this.token = token;
        this.timeout = timeout;
    }

    /** Returns the address that precedes all paths, without a trailing slash. */
    public String base() {
        return base;
    }

    /**
     * Sends a request, and waits until its response begins.
     *
     * @param method {@code GET} or {@code HEAD}
     * @param path the path with a leading slash, and the query
     * @param withToken whether to authenticate
     * @throws IOException if the server cannot be reached, or does not respond in time; the message states the problem
     */
    public Response send(String method, String path, boolean withToken) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(base + path).toURL().openConnection(Proxy.NO_PROXY);
        if (connection instanceof HttpsURLConnection secured && tls != null) {
            secured.setSSLSocketFactory(tls);
        }
        connection.setRequestMethod(method);
        connection.setInstanceFollowRedirects(false);
        connection.setConnectTimeout((int) timeout.toMillis());
        connection.setReadTimeout((int) timeout.toMillis());
        connection.setRequestProperty("Cache-Control", "no-cache");
        if (withToken && token != null) {
            if (!token.chars().allMatch(letter -> letter >= ' ' && letter <= '~')) {
                throw new IOException("a password with other than ASCII characters cannot be sent over HTTP");
            }
            connection.setRequestProperty("Authorization", "Bearer " + token);
        }
        try {
            int status = connection.getResponseCode();
            if (status < 0) {
                throw new IOException("the response is not HTTP");
            }
            InputStream body = status < MIN_ERROR ? connection.getInputStream() : connection.getErrorStream();
            long length = method.equals("HEAD") ? -1 : connection.getContentLengthLong();
            return new Response(
                    connection,
                    status,
                    new CompleteBody(Objects.requireNonNullElse(body, InputStream.nullInputStream()), length));
        } catch (SocketTimeoutException slow) {
            throw new IOException(base + " has not responded for " + timeout.toSeconds() + " s", slow);
        } catch (ConnectException unreachable) {
            throw new IOException("no server listens at " + base, unreachable);
        } catch (SSLException unfit) {
            throw new IOException(
                    "TLS with " + base + " failed: " + unfit.getMessage()
                            + "; does the server speak TLS there, and is the authority of its certificate trusted?",
                    unfit);
        } catch (UnknownHostException unknown) {
            throw new IOException("the host of " + base + " is not known", unknown);
        } catch (IOException lost) {
            throw new IOException("the connection to " + base + " was lost: " + lost.getMessage(), lost);
        }
    }

    /** The body of a response. Unlike Java's own stream, it fails if the connection ends before the body. */
    private final class CompleteBody extends FilterInputStream {
        private long left;

        CompleteBody(InputStream body, long length) {
            super(body);
            this.left = length;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            try {
                int count = in.read(to, offset, length);
                left -= Math.max(0, count);
                if (count < 0 && left > 0) {
                    throw new EOFException(left + " bytes are missing");
                }
                return count;
            } catch (SocketTimeoutException slow) {
                throw new IOException("the response stopped: no data for " + timeout.toSeconds() + " s", slow);
            } catch (IOException cut) {
                throw new IOException("the response was cut off: " + cut.getMessage(), cut);
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
            try (HttpLink.Response response = link.send("GET", path, withToken)) {
                byte[] body = response.body().readNBytes(MAX_BYTES + 1);
                if (body.length > MAX_BYTES) {
                    throw new IOException(link.base() + path + " is longer than " + MAX_BYTES + " bytes");
                }
                return new Page(response.status(), body);
            }
        }
    }
}
