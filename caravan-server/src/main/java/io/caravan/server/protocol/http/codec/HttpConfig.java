package io.caravan.server.protocol.http.codec;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;

/**
 * Settings of the HTTP server.
 *
 * @param address address to listen on; port 0 chooses a free one
 * @param maxBodyBytes maximum length of a request body
 * @param maxBatchBytes maximum size in the store's log of the messages of one body, including an overhead for each
 * @param longPoll time for which a long poll waits for a value
 * @param eventStream time after which the client of an event stream must reconnect
 * @param heartbeat time between the comments that keep proxies from ending an event stream that has no events; zero for
 *     none
 * @param allowedOrigins origins whose pages may use the server if clients need no token, in addition to those of this
 *     machine; {@code *} is all
 * @param allowedHosts names that the {@code Host} header may have in that case, in addition to those of this machine,
 *     the host listened on and those of the allowed origins; {@code *} is all
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
    /** Space in a write for everything except its messages: the attributes of the document, and frames. */
    private static final int BATCH_ROOM_BYTES = 64 * 1024;

    /**
     * Returns a configuration with the default times, for a store with these limits: a body contains one value, or
     * several as JSON, and a write must fit in a log buffer.
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

    /** Returns a copy with this time between the comments of event streams; zero for none. */
    public HttpConfig withHeartbeat(Duration time) {
        return new HttpConfig(
                address, maxBodyBytes, maxBatchBytes, longPoll, eventStream, time, allowedOrigins, allowedHosts);
    }

    /**
     * Returns a copy that also allows pages of these origins. Throws {@link IllegalArgumentException} when one is
     * neither an origin nor {@code *}.
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
     * Returns a copy that also allows these names in the {@code Host} header. Throws {@link IllegalArgumentException}
     * when one is neither a host name nor {@code *}.
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
