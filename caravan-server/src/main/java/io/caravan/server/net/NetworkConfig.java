package io.caravan.server.net;

import org.jspecify.annotations.Nullable;

/**
 * How sockets are served.
 *
 * @param transport which system interface serves them
 * @param loops number of event loops, one or more
 * @param limits what clients may take
 * @param tls certificate and key, or null for plain text
 */
public record NetworkConfig(
        Transport transport,
        int loops,
        NetworkLimits limits,
        @Nullable Tls tls) {

    /** The usual config, sized to the machine; without TLS. */
    public static NetworkConfig defaults() {
        return new NetworkConfig(Transport.best(), defaultLoops(), NetworkLimits.defaults(), null);
    }

    /** One for two processors: the flusher and the readers need the others. */
    public static int defaultLoops() {
        return Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    }
}
