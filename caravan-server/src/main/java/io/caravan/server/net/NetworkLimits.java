package io.caravan.server.net;

import java.time.Duration;

/**
 * How much clients may take of the server together, and how long they may take for it.
 *
 * @param maxConnections connections at a time, of all protocols; one too many is told so and closed
 * @param connectionInFlightBytes bytes of requests that a connection may have sent without their being answered; then
 *     nothing more is read from it until they are
 * @param totalInFlightBytes the same for all connections together
 * @param requestTimeout within which a request that has begun must have come whole
 * @param idleTimeout after which a connection is closed on which nothing is under way; zero is never
 */
public record NetworkLimits(
        int maxConnections,
        long connectionInFlightBytes,
        long totalInFlightBytes,
        Duration requestTimeout,
        Duration idleTimeout) {

    /** Limits for who has no opinion; a quarter of the JVM's memory is for requests. */
    public static NetworkLimits defaults() {
        return new NetworkLimits(
                10_000,
                16L << 20,
                Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 4),
                Duration.ofSeconds(30),
                Duration.ZERO);
    }
}
