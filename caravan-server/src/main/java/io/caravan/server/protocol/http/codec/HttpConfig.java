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
 * @param stall how long a client may leave a response unread
 * @param allowedOrigins origins whose pages may use the server, in addition to those of this machine, where clients need no
 *     token; {@code *} is all
 */
public record HttpConfig(
        InetSocketAddress address,
        int maxBodyBytes,
        long maxBatchBytes,
        Duration longPoll,
        Duration eventStream,
        Duration stall,
        Set<String> allowedOrigins) {
    private static final Duration LONG_POLL = Duration.ofSeconds(20);
    private static final Duration EVENT_STREAM = Duration.ofSeconds(60);
    /** Room for what a write holds in addition to its messages: the document's attributes, and frames. */
    private static final int BATCH_ROOM_BYTES = 64 * 1024;

    private static final Duration STALL = Duration.ofSeconds(30);

    /**
     * Makes a configuration with the usual times.
     *
     * @param maxBodyBytes the store's limit for a value, because a body is one value, or several of JSON
     * @param logBufferBytes length of the store's log buffers; a write must fit in one
     */
    public static HttpConfig of(InetSocketAddress address, int maxBodyBytes, int logBufferBytes) {
        return new HttpConfig(
                address, maxBodyBytes, logBufferBytes - BATCH_ROOM_BYTES, LONG_POLL, EVENT_STREAM, STALL, Set.of());
    }

    /**
     * The same with pages of these origins allowed too.
     *
     * @throws IllegalArgumentException when one is neither an origin nor {@code *}
     */
    public HttpConfig withAllowedOrigins(Collection<String> origins) {
        for (String origin : origins) {
            if (!Origins.valid(origin)) {
                throw new IllegalArgumentException("'" + origin
                        + "' is not an origin, such as http://localhost:3000 or https://app.example, in lower case and"
                        + " without a path, nor *");
            }
        }
        return new HttpConfig(address, maxBodyBytes, maxBatchBytes, longPoll, eventStream, stall, Set.copyOf(origins));
    }
}
