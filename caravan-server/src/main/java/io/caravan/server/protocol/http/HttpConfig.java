package io.caravan.server.protocol.http;

import io.caravan.server.config.HostPort;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;

/**
 * Settings of the HTTP server.
 *
 * @param address address to listen on; port 0 picks a free port
 * @param maxBodyBytes maximum length of a request body
 * @param maxBatchBytes maximum size in the log of the messages of one request body, including an overhead for each
 *     message
 * @param longPoll maximum time for which a long poll waits for a value
 * @param eventStream time after which the client of an event stream must reconnect
 * @param heartbeat time between the comments that prevent proxies from closing an idle event stream; zero for no
 *     comments
 * @param allowedOrigins origins whose pages may use the server if clients need no token, in addition to the origins of
 *     this machine; {@code *} allows all
 * @param allowedHosts names that the {@code Host} header may contain if clients need no token, in addition to the names
 *     of this machine, of {@code address}, and of the allowed origins; {@code *} allows all
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
    /** The space in a log buffer that a write needs for the attributes of the document and for frames. */
    private static final int BATCH_ROOM_BYTES = 64 * 1024;

    /**
     * Returns a configuration with the default times, for a store with these limits. Limits the size of a batch,
     * because a write must fit into a log buffer.
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

    public HttpConfig withHeartbeat(Duration time) {
        return new HttpConfig(
                address, maxBodyBytes, maxBatchBytes, longPoll, eventStream, time, allowedOrigins, allowedHosts);
    }

    /**
     * Returns a copy with these {@code allowedOrigins} and {@code allowedHosts}. Throws {@link
     * IllegalArgumentException} if an element is invalid; the message names the option of the command line.
     */
    public HttpConfig withAllowed(Collection<String> origins, Collection<String> hosts) {
        for (String origin : origins) {
            if (!Origins.valid(origin)) {
                throw new IllegalArgumentException("--allow-origin: '" + HostPort.withoutUser(origin)
                        + "' is not an origin, such as http://localhost:3000 or https://app.example, in lower case and"
                        + " without a path, nor *");
            }
        }
        for (String host : hosts) {
            if (!Origins.validHost(host)) {
                throw new IllegalArgumentException("--allow-host: '" + HostPort.withoutUser(host)
                        + "' is not a host name, such as caravan.example, in lower case and without a port, nor *");
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
                Set.copyOf(hosts));
    }
}
