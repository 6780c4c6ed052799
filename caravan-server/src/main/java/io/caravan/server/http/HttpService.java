package io.caravan.server.http;

import io.netty.handler.codec.http.HttpMethod;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What all HTTP connections share. */
final class HttpService {
    private static final int NO_CONTENT = 204;

    private final HttpConfig config;
    private final Router router;
    private final Gate gate;
    private final Readiness readiness;
    private final HttpMetrics metrics;
    private final Route preflight = Route.of(
            HttpMethod.OPTIONS,
            "*",
            "preflight",
            Set.of(NO_CONTENT),
            exchange -> exchange.answer(CommonHeaders.preflight()));

    HttpService(HttpConfig config, Router router, Gate gate, Readiness readiness, HttpMetrics metrics) {
        this.config = config;
        this.router = router;
        this.gate = gate;
        this.readiness = readiness;
        this.metrics = metrics;
    }

    HttpConfig config() {
        return config;
    }

    Router router() {
        return router;
    }

    Gate gate() {
        return gate;
    }

    Readiness readiness() {
        return readiness;
    }

    HttpMetrics metrics() {
        return metrics;
    }

    /** What a browser asks before a page of another origin may send something. */
    Route preflight() {
        return preflight;
    }

    /** What must be there by now. */
    static <T> T required(@Nullable T value) {
        return Objects.requireNonNull(value);
    }
}
