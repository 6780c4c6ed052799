package io.caravan.server.metrics;

import io.caravan.server.net.Network;
import io.caravan.server.security.Authenticator;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/** What clients hold of the server together, and whom it refuses. */
public final class NetworkMetrics {
    private NetworkMetrics() {}

    /** Registers the figures. */
    public static void register(ServerMetrics metrics, Network network, Authenticator authenticator) {
        MeterRegistry registry = metrics.registry();
        Gauge.builder("caravan.requests.held.bytes", network, Network::inFlightBytes)
                .description("Bytes of requests that have been read and not answered")
                .register(registry);
        Gauge.builder("caravan.answers.held.bytes", network, Network::answerBytes)
                .description("Bytes of answers that clients have not taken")
                .register(registry);
        FunctionCounter.builder("caravan.answers.closed.connections", network, Network::closedForAnswers)
                .description(
                        "Connections closed because they took nothing while all answers together were at their limit")
                .register(registry);
        refused(registry, "total", network, Network::refusedConnections);
        refused(registry, "address", network, Network::refusedByAddress);
        logins(registry, "wrong", authenticator, Authenticator::failures);
        logins(registry, "limited", authenticator, Authenticator::refusals);
    }

    private static void refused(
            MeterRegistry registry, String limit, Network network, ToDoubleFunction<Network> figure) {
        FunctionCounter.builder("caravan.connections.refused", network, figure)
                .description("Connections refused, by the limit that they met: of all, or of one address")
                .tag("limit", limit)
                .register(registry);
    }

    private static void logins(
            MeterRegistry registry,
            String reason,
            Authenticator authenticator,
            ToDoubleFunction<Authenticator> figure) {
        FunctionCounter.builder("caravan.logins.failed", authenticator, figure)
                .description(
                        "Secrets refused: wrong, or not looked at because their address had shown too many wrong ones")
                .tag("reason", reason)
                .register(registry);
    }
}
