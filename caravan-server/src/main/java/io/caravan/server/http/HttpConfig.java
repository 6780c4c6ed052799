package io.caravan.server.http;

import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * What the HTTP side needs to know.
 *
 * @param address where to listen; port 0 is any
 * @param maxBodyBytes greatest length of a request's body
 * @param longPoll how long a long poll waits for a value
 * @param eventStream how long an event stream lasts before its client has to ask again
 * @param stall how long a client may take nothing of an answer
 */
public record HttpConfig(
        InetSocketAddress address, int maxBodyBytes, Duration longPoll, Duration eventStream, Duration stall) {
    private static final Duration LONG_POLL = Duration.ofSeconds(20);
    private static final Duration EVENT_STREAM = Duration.ofSeconds(60);
    private static final Duration STALL = Duration.ofSeconds(30);

    /** With the usual times. A body is one value, so {@code maxBodyBytes} is the store's limit for one. */
    public static HttpConfig of(InetSocketAddress address, int maxBodyBytes) {
        return new HttpConfig(address, maxBodyBytes, LONG_POLL, EVENT_STREAM, STALL);
    }
}
