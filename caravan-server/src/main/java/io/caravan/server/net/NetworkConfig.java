package io.caravan.server.net;

import org.jspecify.annotations.Nullable;

/**
 * The configuration of the network layer.
 *
 * @param transport the system interface for sockets
 * @param loops the number of event loops, one or more
 * @param limits the limits for clients
 * @param tls certificate and key, or null for plain text
 */
public record NetworkConfig(
        Transport transport,
        int loops,
        NetworkLimits limits,
        @Nullable Tls tls) {

    /** Returns the default configuration, sized for the machine, without TLS. */
    public static NetworkConfig defaults() {
        return new NetworkConfig(Transport.best(), defaultLoops(), NetworkLimits.defaults(), null);
    }

    /**
     * Returns the default number of event loops: one for every two processors, because the flusher and readers also
     * need processors.
     */
    public static int defaultLoops() {
        return Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    }
}
