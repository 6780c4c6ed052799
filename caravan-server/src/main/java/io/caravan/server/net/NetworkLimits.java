package io.caravan.server.net;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The limits on the connections, memory, and time that clients may use.
 *
 * @param maxConnections maximum number of open connections, of all protocols; further connections receive a message and
 *     are closed
 * @param maxConnectionsPerAddress maximum number of open connections from one address; loopback addresses are exempt
 * @param connectionInFlightBytes maximum memory of a connection's requests without replies; at this limit, the server
 *     stops reading from the connection
 * @param totalInFlightBytes maximum memory of all requests without replies; large requests may use three quarters of
 *     this memory
 * @param totalReplyBytes maximum number of bytes of replies that clients have not received, for all connections
 *     together; at this limit, commands that read data wait
 * @param requestTimeout maximum time from the first byte of a request until the request has arrived; for a connection's
 *     first request, from when the connection was accepted
 * @param stallTimeout maximum time for which a client may receive no byte of a pending reply
 * @param idleTimeout maximum idle time of a connection; zero means no limit, and null means the default of the protocol
 */
public record NetworkLimits(
        int maxConnections,
        int maxConnectionsPerAddress,
        long connectionInFlightBytes,
        long totalInFlightBytes,
        long totalReplyBytes,
        Duration requestTimeout,
        Duration stallTimeout,
        @Nullable Duration idleTimeout) {
    private static final int MAX_CONNECTIONS = 10_000;
    private static final long MIN_TOTAL_BYTES = 64L << 20;

    /**
     * Returns the default limits. One address may open half of the connections. Requests and replies may each take a
     * quarter of the JVM heap, but at least 64 MiB.
     */
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

    /** Returns the default limit per address: half of {@code maxConnections}, but at least one. */
    public static int shareOf(int maxConnections) {
        return Math.max(1, maxConnections / 2);
    }

    /**
     * Returns the same limits with this maximum number of connections. If the limit for one address was the default
     * half, it becomes half of the new number; otherwise, a limit above the new number is lowered to that number.
     */
    public NetworkLimits withConnections(int connections) {
        boolean isShare = maxConnectionsPerAddress == shareOf(maxConnections);
        return new NetworkLimits(
                connections,
                isShare ? shareOf(connections) : Math.min(maxConnectionsPerAddress, connections),
                connectionInFlightBytes,
                totalInFlightBytes,
                totalReplyBytes,
                requestTimeout,
                stallTimeout,
                idleTimeout);
    }
}
