package io.caravan.server.net;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How much clients may take of the server together, and how long they may take for it.
 *
 * @param maxConnections connections at a time, of all protocols; one too many is told so and closed
 * @param maxConnectionsPerAddress how many of them one address may have; this machine's own may have all
 * @param connectionInFlightBytes what the requests of a connection may take in memory that have not been answered; then
 *     nothing more is read from it until they are
 * @param totalInFlightBytes the same for all connections together, of which large requests may take three quarters
 * @param totalAnswerBytes bytes of answers that clients have not taken, of all connections together; then reads wait
 * @param requestTimeout how long a request may take to arrive, from its first byte; a new connection's first request
 *     from when it was accepted
 * @param stallTimeout how long a client may take nothing of an answer
 * @param idleTimeout how long a connection may be idle; zero is forever, and null leaves it to the protocol
 */
public record NetworkLimits(
        int maxConnections,
        int maxConnectionsPerAddress,
        long connectionInFlightBytes,
        long totalInFlightBytes,
        long totalAnswerBytes,
        Duration requestTimeout,
        Duration stallTimeout,
        @Nullable Duration idleTimeout) {
    private static final int MAX_CONNECTIONS = 10_000;
    private static final long MIN_TOTAL_BYTES = 64L << 20;
    /** The part of the request timeout for which a client may do nothing while requests are at their limit. */
    private static final int PATIENCE_PART = 15;

    /** Half of the connections for one address, and a quarter of the JVM's memory each for requests and answers. */
    public static NetworkLimits defaults() {
        long totalBytes = Math.max(MIN_TOTAL_BYTES, Runtime.getRuntime().maxMemory() / 4);
        return new NetworkLimits(
                MAX_CONNECTIONS,
                shareOf(MAX_CONNECTIONS),
                16L << 20,
                totalBytes,
                totalBytes,
                Duration.ofSeconds(30),
                Duration.ofSeconds(30),
                null);
    }

    /** How long a client may do nothing while the requests of all connections together are at their limit. */
    Duration patience() {
        return requestTimeout.dividedBy(PATIENCE_PART);
    }

    /** How many of so many connections one address may have, when nothing else is said: half. */
    public static int shareOf(int maxConnections) {
        return Math.max(1, maxConnections / 2);
    }

    /** The same limits with at most so many connections; one address may have no greater share of them than before. */
    public NetworkLimits withConnections(int connections) {
        boolean isShare = maxConnectionsPerAddress == shareOf(maxConnections);
        return new NetworkLimits(
                connections,
                isShare ? shareOf(connections) : Math.min(maxConnectionsPerAddress, connections),
                connectionInFlightBytes,
                totalInFlightBytes,
                totalAnswerBytes,
                requestTimeout,
                stallTimeout,
                idleTimeout);
    }
}
