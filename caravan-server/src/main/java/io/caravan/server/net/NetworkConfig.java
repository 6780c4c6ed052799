package io.caravan.server.net;

import org.jspecify.annotations.Nullable;

/**
 * How listeners work.
 *
 * @param transport how sockets are served
 * @param loops number of event loops, one or more
 * @param limits what clients may take
 * @param tls certificate and key, or null when bytes go over the wire as they are
 */
public record NetworkConfig(
        Transport transport,
        int loops,
        NetworkLimits limits,
        @Nullable Tls tls) {

    /** A config for who has no opinion, sized to the machine; without TLS. */
    public static NetworkConfig defaults() {
        return new NetworkConfig(Transport.best(), defaultLoops(), NetworkLimits.defaults(), null);
    }

    /** Event loops decide and encode; the flusher and the readers want cores as well. */
    public static int defaultLoops() {
        return Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    }
}
