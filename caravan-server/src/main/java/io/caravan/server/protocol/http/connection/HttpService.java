package io.caravan.server.protocol.http.connection;

import io.caravan.server.protocol.http.codec.CommonHeaders;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.codec.Origins;
import io.caravan.server.protocol.http.codec.ProblemException;
import io.caravan.server.protocol.http.codec.RequestTarget;
import io.caravan.server.security.Principal;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import java.net.SocketAddress;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What all HTTP connections share. */
public final class HttpService {
    private static final int NO_CONTENT = 204;

    private final HttpConfig config;
    private final Router router;
    private final Origins origins;
    private final Gate gate;
    private final Readiness readiness;
    private final HttpMetrics metrics;
    private final Route preflight = Route.of(
            HttpMethod.OPTIONS,
            "*",
            "preflight",
            Set.of(NO_CONTENT),
            exchange -> exchange.answer(CommonHeaders.preflight()));

    public HttpService(
            HttpConfig config, Router router, Origins origins, Gate gate, Readiness readiness, HttpMetrics metrics) {
        this.config = config;
        this.router = router;
        this.origins = origins;
        this.gate = gate;
        this.readiness = readiness;
        this.metrics = metrics;
    }

    HttpConfig config() {
        return config;
    }

    public Router router() {
        return router;
    }

    Origins origins() {
        return origins;
    }

    public Readiness readiness() {
        return readiness;
    }

    HttpMetrics metrics() {
        return metrics;
    }

    /**
     * What to do with a request. One that is refused, and has no body, does not end the connection.
     *
     * @throws ProblemException when it is refused, and the connection cannot go on
     */
    IncomingRequest admit(HttpRequest head, SocketAddress peer) {
        RequestTarget target = RequestTarget.of(head);
        try {
            origins.check(head.method(), head.headers());
            if (head.method().equals(HttpMethod.OPTIONS)) {
                return new IncomingRequest(head, target, preflight, Principal.ANYONE, config);
            }
            Route route = router.find(head.method(), target.path());
            Principal principal = gate.check(route, target.path(), head.headers(), peer);
            return new IncomingRequest(head, target, route, principal, config);
        } catch (ProblemException refused) {
            if (IncomingRequest.hasBody(head)) {
                throw refused;
            }
            return new IncomingRequest(head, target, Route.refusing(head.method(), refused), Principal.ANYONE, config);
        }
    }

    /** What must be there by now. */
    public static <T> T required(@Nullable T value) {
        return Objects.requireNonNull(value);
    }
}
