package io.caravan.server.net;

import java.time.Duration;

/** Limits for tests, which say what they are about and leave the rest as it usually is. */
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

    /** With a time for clients that take nothing. */
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
