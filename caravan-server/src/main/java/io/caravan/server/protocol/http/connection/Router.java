package io.caravan.server.protocol.http.connection;

import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.ProblemException;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the route of a request. */
public final class Router {
    private final List<Route> routes;

    public Router(List<Route> routes) {
        this.routes = List.copyOf(routes);
    }

    public List<Route> routes() {
        return routes;
    }

    /**
     * The route of a request.
     *
     * @throws ProblemException when there is none
     */
    Route find(HttpMethod method, String path) {
        List<Route> ofPath =
                routes.stream().filter(route -> route.matches(path)).toList();
        if (ofPath.isEmpty()) {
            throw new ProblemException(new Problem(
                    HttpResponseStatus.NOT_FOUND,
                    "unknown_path",
                    "there is nothing at this path; /openapi.json tells what there is"));
        }
        return ofPath.stream()
                .filter(route -> route.method().equals(method))
                .findFirst()
                .or(() -> ofPath.stream()
                        .filter(route ->
                                method.equals(HttpMethod.HEAD) && route.method().equals(HttpMethod.GET))
                        .findFirst())
                .orElseThrow(() -> notAllowed(method, ofPath));
    }

    private static ProblemException notAllowed(HttpMethod method, List<Route> ofPath) {
        String allowed = Stream.concat(
                        ofPath.stream().map(route -> route.method().name()), Stream.of("OPTIONS"))
                .distinct()
                .collect(Collectors.joining(", "));
        return new ProblemException(new Problem(
                        HttpResponseStatus.METHOD_NOT_ALLOWED,
                        "method_not_allowed",
                        "this path takes " + allowed + ", not " + method.name())
                .with("Allow", allowed));
    }
}
