package io.caravan.server.net;

import java.time.Duration;

/** Network limits for tests, with typical values for the limits that a test does not set. */
public final class TestLimits {
    private TestLimits() {}

    public static NetworkLimits of(
            int maxConnections, long connectionBytes, long totalBytes, Duration request, Duration idle) {
        return of(
                maxConnections,
                connectionBytes,
                totalBytes,
                request,
                NetworkLimits.defaults().stallTimeout(),
                idle);
    }

    /** Returns limits that include a timeout for clients that do not read. */
    public static NetworkLimits of(
            int maxConnections,
            long connectionBytes,
            long totalBytes,
            Duration request,
            Duration stall,
            Duration idle) {
        return new NetworkLimits(
                maxConnections, maxConnections, connectionBytes, totalBytes, totalBytes, request, stall, idle);
    }
}
