package io.caravan.server.metrics;

import io.caravan.server.metrics.ServerMetrics.Figures;
import io.caravan.server.net.Network;
import io.caravan.server.security.Authenticator;

/**
 * The memory that all clients together occupy in the server, and the connections and logins that the server refuses.
 */
public final class NetworkMetrics {
    private static final String REFUSED = "Connections refused, by the limit that they met: of all, or of one address";
    private static final String FAILED =
            "Secrets refused: wrong, or not looked at because their address had shown too many wrong ones";

    private NetworkMetrics() {}

    public static void register(ServerMetrics metrics, Network network, Authenticator authenticator) {
        Figures<Network> clients = metrics.of(() -> network);
        clients.gauge(
                "caravan.requests.in.flight.bytes",
                "Bytes that requests take which have been read and not answered",
                Network::inFlightBytes);
        clients.counter(
                "caravan.requests.closed.connections",
                "Connections closed because they did nothing while all requests together were at their limit",
                Network::closedForRequests);
        clients.gauge(
                "caravan.replies.pending.bytes", "Bytes of answers that clients have not taken", Network::answerBytes);
        clients.gauge(
                "caravan.waits.bytes",
                "Bytes for what clients wait for: channels, patterns, names in BLPOP, streams in /v1/live",
                Network::waitBytes);
        clients.counter(
                "caravan.replies.closed.connections",
                "Connections closed because they took nothing while all answers together were at their limit",
                Network::closedForAnswers);
        clients.counter("caravan.connections.rejected", REFUSED, Network::refusedConnections, "limit", "total");
        clients.counter("caravan.connections.rejected", REFUSED, Network::refusedByAddress, "limit", "address");
        Figures<Authenticator> logins = metrics.of(() -> authenticator);
        logins.counter("caravan.auth.failures", FAILED, Authenticator::failures, "reason", "wrong");
        logins.counter("caravan.auth.failures", FAILED, Authenticator::refusals, "reason", "limited");
    }
}
