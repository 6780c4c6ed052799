package io.caravan.server.protocol.http.codec;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;

/**
 * Settings of the HTTP server.
 *
 * @param address where to listen; port 0 chooses a free one
 * @param maxBodyBytes maximum length of a request's body
 * @param maxBatchBytes what the messages of one body may take in the store's log, including an overhead for each
 * @param longPoll how long a long poll waits for a value
 * @param eventStream how long an event stream lasts before its client must reconnect
 * @param heartbeat time between the comments that keep proxies from ending an event stream that has no events; zero for
 *     none
 * @param allowedOrigins origins whose pages may use the server, in addition to those of this machine, where clients
 *     need no token; {@code *} is all
 * @param allowedHosts names that the {@code Host} header may have there, in addition to those of this machine, the host
 *     listened on and those of the allowed origins; {@code *} is all
 */
public record HttpConfig(
        InetSocketAddress address,
        int maxBodyBytes,
        long maxBatchBytes,
        Duration longPoll,
        Duration eventStream,
        Duration heartbeat,
        Set<String> allowedOrigins,
        Set<String> allowedHosts) {
    /** Room for what a write holds in addition to its messages: the document's attributes, and frames. */
    private static final int BATCH_ROOM_BYTES = 64 * 1024;

    /**
     * A configuration with the usual times, for a store with these limits: a body is one value, or several of JSON, and
     * a write must fit in a log buffer.
     */
    public static HttpConfig of(InetSocketAddress address, int maxValueBytes, int logBufferBytes) {
        return new HttpConfig(
                address,
                maxValueBytes,
                logBufferBytes - BATCH_ROOM_BYTES,
                Duration.ofSeconds(20),
                Duration.ofSeconds(60),
                Duration.ofSeconds(15),
                Set.of(),
                Set.of());
    }

    /** The same with so much time between the comments of event streams; zero for none. */
    public HttpConfig withHeartbeat(Duration time) {
        return new HttpConfig(
                address, maxBodyBytes, maxBatchBytes, longPoll, eventStream, time, allowedOrigins, allowedHosts);
    }

    /**
     * The same with pages of these origins allowed too. Throws {@link IllegalArgumentException} when one is neither an
     * origin nor {@code *}.
     */
    public HttpConfig withAllowedOrigins(Collection<String> origins) {
        for (String origin : origins) {
            if (!Origins.valid(origin)) {
                throw new IllegalArgumentException("'" + origin
                        + "' is not an origin, such as http://localhost:3000 or https://app.example, in lower case and"
                        + " without a path, nor *");
            }
        }
        return new HttpConfig(
                address,
                maxBodyBytes,
                maxBatchBytes,
                longPoll,
                eventStream,
                heartbeat,
                Set.copyOf(origins),
                allowedHosts);
    }

    /**
     * The same where the {@code Host} header may have other names too. Throws {@link IllegalArgumentException} when one
     * is neither a host's name nor {@code *}.
     */
    public HttpConfig withAllowedHosts(Collection<String> hosts) {
        for (String host : hosts) {
            if (!Origins.validHost(host)) {
                throw new IllegalArgumentException("'" + host
                        + "' is not a host's name, such as caravan.example, in lower case and without a port, nor *");
            }
        }
        return new HttpConfig(
                address,
                maxBodyBytes,
                maxBatchBytes,
                longPoll,
                eventStream,
                heartbeat,
                allowedOrigins,
                Set.copyOf(hosts));
    }
}
