package io.caravan.server.cli.client;

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
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * HTTP requests to one server. Follows no redirect and takes no proxy, so that the token goes to this server alone. Of an
 * answer's body some 16 KiB are in memory. For one thread.
 */
public final class HttpLink {
    private final HttpClient client;
    private final String base;
    private final @Nullable String token;
    private final Duration timeout;

    /**
     * An answer, whose body is still to be read, and which must be closed.
     *
     * @param body fails when nothing more comes in time, or the connection is lost before its end
     */
    public record Answer(int status, HttpHeaders headers, InputStream body) implements Closeable {
        /** The header's first value, or null. */
        public @Nullable String header(String name) {
            return headers.firstValue(name).orElse(null);
        }

        @Override
        public void close() throws IOException {
            body.close();
        }
    }

    /**
     * Requests below an address; nothing is sent yet.
     *
     * @param authorities whom to trust, or null for Java's defaults
     * @param token what the server knows the user by, or null
     * @param timeout how long the server may take to connect, until its answer begins, and between two parts of it
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

    /** The address that paths are appended to, without a slash at its end. */
    public String base() {
        return base;
    }

    /**
     * Sends a request and waits until its answer begins.
     *
     * @param path with a slash at its start, and with the query
     * @param withToken whether the server is told who the user is
     * @param headers names and values in turn
     * @throws IOException when the server cannot be reached, or does not answer in time; the message says which
     */
    public Answer send(String method, String path, byte[] body, boolean withToken, String... headers)
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
            HttpResponse<InputStream> answer = client.send(request.build(), head -> new TimedBody(timeout));
            return new Answer(answer.statusCode(), answer.headers(), answer.body());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", stop);
        } catch (HttpTimeoutException slow) {
            throw new IOException(base + " has not answered for " + timeout.toSeconds() + " s", slow);
        } catch (ConnectException unreachable) {
            throw new IOException("no server answers at " + base, unreachable);
        } catch (SSLException unfit) {
            throw new IOException(
                    "TLS with " + base + " failed: " + unfit.getMessage()
                            + "; does the server speak TLS there, and is the authority of its certificate trusted?",
                    unfit);
        } catch (IOException lost) {
            throw new IOException("the connection to " + base + " was lost: " + lost.getMessage(), lost);
        }
    }
}
