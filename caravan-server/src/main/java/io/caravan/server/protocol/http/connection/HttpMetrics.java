package io.caravan.server.protocol.http.connection;

import io.caravan.server.metrics.RequestOutcome;
import io.caravan.server.metrics.ServerMetrics;

/** Counts HTTP's requests. */
public final class HttpMetrics {
    private static final String PROTOCOL = "http";
    private static final int CLIENT_ERRORS = 400;
    private static final int SERVER_ERRORS = 500;

    private final ServerMetrics metrics;

    public HttpMetrics(ServerMetrics metrics) {
        this.metrics = metrics;
    }

    /** An exchange is over. */
    void answered(Exchange exchange) {
        RequestOutcome outcome = exchange.finished() ? outcome(exchange.status()) : RequestOutcome.ABANDONED;
        metrics.request(PROTOCOL, exchange.operation(), outcome, System.nanoTime() - exchange.startedNanos());
    }

    /** A request was refused before it was there whole. */
    void refused(int status) {
        metrics.request(PROTOCOL, "unread", outcome(status), 0);
    }

    private static RequestOutcome outcome(int status) {
        if (status >= SERVER_ERRORS) {
            return RequestOutcome.FAILED;
        }
        return status >= CLIENT_ERRORS ? RequestOutcome.REFUSED : RequestOutcome.OK;
    }
}
