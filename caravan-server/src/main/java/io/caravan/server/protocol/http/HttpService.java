package io.caravan.server.protocol.http;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.security.Principal;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import java.net.SocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Holds the state that all HTTP connections share: the routes, their access rules, and the request metrics. */
public final class HttpService {
    private static final String PROTOCOL = "http";

    private final HttpConfig config;
    private final List<Route> routes;
    private final Origins origins;
    private final HttpAuthorizer gate;
    private final Readiness readiness;
    private final ServerMetrics metrics;
    private final Route preflight = new Route(
            HttpMethod.OPTIONS, "*", "preflight", null, exchange -> exchange.respond(Origins.preflight()), 204);

    public HttpService(
            HttpConfig config, List<Route> routes, HttpAuthorizer gate, Readiness readiness, ServerMetrics metrics) {
        this.config = config;
        this.routes = List.copyOf(routes);
        Cluster cluster = readiness.cluster();
        // The Host header of a request that another node forwards contains the address of that node.
        this.origins = new Origins(config, gate.closed(), name -> cluster != null && cluster.hasHttpName(name));
        this.gate = gate;
        this.readiness = readiness;
        this.metrics = metrics;
    }

    public List<Route> routes() {
        return routes;
    }

    Origins origins() {
        return origins;
    }

    public Readiness readiness() {
        return readiness;
    }

    /**
     * Finds the route of a request and checks that the client may use it. A rejected request without a body gets a
     * route that responds with the error, so that the connection remains usable. Throws {@link Problem} if the request
     * is rejected and the connection must end.
     */
    IncomingRequest admit(HttpRequest head, SocketAddress peer) {
        Request request = Request.of(head);
        try {
            origins.check(head.method(), head.headers());
            if (head.method().equals(HttpMethod.OPTIONS)) {
                return new IncomingRequest(head, request, preflight, Principal.ANYONE, config);
            }
            Route route = route(head.method(), request.path());
            Principal principal = gate.check(route, request.path(), head.headers(), peer);
            request.checkContentEncoding();
            request.checkConditions(route.aboutDocument());
            return new IncomingRequest(head, request, route, principal, config);
        } catch (Problem rejected) {
            if (HttpUtil.isTransferEncodingChunked(head) || HttpUtil.getContentLength(head, 0L) > 0) {
                throw rejected;
            }
            return new IncomingRequest(
                    head, request, Route.rejecting(head.method(), rejected), Principal.ANYONE, config);
        }
    }

    private Route route(HttpMethod method, String path) {
        Route ofGet = null;
        for (Route route : routes) {
            if (route.matches(path)) {
                if (route.method().equals(method)) {
                    return route;
                }
                ofGet = route.method().equals(HttpMethod.GET) ? route : ofGet;
            }
        }
        if (ofGet != null && method.equals(HttpMethod.HEAD)) {
            return ofGet;
        }
        throw noRoute(method, path);
    }

    private Problem noRoute(HttpMethod method, String path) {
        Set<String> allowed = new LinkedHashSet<>();
        routes.stream()
                .filter(route -> route.matches(path))
                .forEach(route -> allowed.add(route.method().name()));
        if (allowed.isEmpty()) {
            return new Problem(
                    404, "unknown_path", "there is no endpoint at this path; /openapi.json lists all endpoints");
        }
        allowed.add("OPTIONS");
        String methods = String.join(", ", allowed);
        return new Problem(405, "method_not_allowed", "this path supports " + methods + ", not " + method.name())
                .with("Allow", methods);
    }

    /** Counts a completed or abandoned exchange. */
    void ended(HttpExchange exchange) {
        RequestOutcome outcome = exchange.finished() ? outcome(exchange.status()) : RequestOutcome.ABANDONED;
        metrics.request(PROTOCOL, exchange.operation(), outcome, System.nanoTime() - exchange.startedNanos());
    }

    /** Counts a request that was rejected before it had arrived completely. */
    void rejected(int status) {
        metrics.request(PROTOCOL, "unread", outcome(status), 0);
    }

    private static RequestOutcome outcome(int status) {
        return switch (HttpStatusClass.valueOf(status)) {
            case SERVER_ERROR -> RequestOutcome.FAILED;
            case CLIENT_ERROR -> RequestOutcome.REJECTED;
            default -> RequestOutcome.OK;
        };
    }
}
