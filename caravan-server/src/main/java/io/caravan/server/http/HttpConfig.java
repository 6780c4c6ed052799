package io.caravan.server.http;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;

/**
 * What the HTTP side needs to know.
 *
 * @param address where to listen; port 0 is any
 * @param maxBodyBytes greatest length of a request's body
 * @param longPoll how long a long poll waits for a value
 * @param eventStream how long an event stream lasts before its client has to ask again
 * @param stall how long a client may take nothing of an answer
 * @param allowedOrigins pages of which origins may use the server, beside those of this machine, where nobody is asked for
 *     a token; {@code *} is all
 */
public record HttpConfig(
        InetSocketAddress address,
        int maxBodyBytes,
        Duration longPoll,
        Duration eventStream,
        Duration stall,
        Set<String> allowedOrigins) {
    private static final Duration LONG_POLL = Duration.ofSeconds(20);
    private static final Duration EVENT_STREAM = Duration.ofSeconds(60);
    private static final Duration STALL = Duration.ofSeconds(30);

    /** With the usual times. A body is one value, so {@code maxBodyBytes} is the store's limit for one. */
    public static HttpConfig of(InetSocketAddress address, int maxBodyBytes) {
        return new HttpConfig(address, maxBodyBytes, LONG_POLL, EVENT_STREAM, STALL, Set.of());
    }

    /**
     * The same where pages of other origins are allowed too.
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
        return new HttpConfig(address, maxBodyBytes, longPoll, eventStream, stall, Set.copyOf(origins));
    }
}
