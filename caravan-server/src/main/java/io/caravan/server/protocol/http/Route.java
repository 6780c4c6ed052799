package io.caravan.server.protocol.http;

import io.caravan.server.security.Permission;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A method and path that the server handles. {@code Routes} and the document at {@code /openapi.json} list all routes.
 *
 * @param method the method; a {@code GET} route also handles {@code HEAD}, unless a separate route exists for it
 * @param path the path of the URL; {@link #REST} at its end matches the name of a document, and {@link #NAME} any other
 *     name
 * @param operation the name in metrics and in {@code /openapi.json}
 * @param permission the required permission, which applies to the document if the path names one; null if none is
 *     required
 * @param statuses the status codes of responses, in addition to {@link #COMMON_STATUSES}
 * @param endpoint handles a request that has arrived completely, on the event loop of the connection, which must not be
 *     blocked. The response may follow later, from any thread. Exceptions are translated by {@link Problem#of}
 */
public record Route(
        HttpMethod method,
        String path,
        String operation,
        @Nullable Permission permission,
        Set<Integer> statuses,
        Consumer<HttpExchange> endpoint) {
    static final String REST = "{path}";
    static final String NAME = "{name}";

    /** Status codes that a response of any route may have. */
    static final Set<Integer> COMMON_STATUSES =
            Set.of(400, 401, 403, 408, 412, 413, 414, 415, 417, 431, 500, 501, 503, 505);

    /** Status codes of responses about a document that was moved to another server. */
    private static final Set<Integer> MOVED_STATUSES = Set.of(307, 421);

    Route(
            HttpMethod method,
            String path,
            String operation,
            @Nullable Permission permission,
            Consumer<HttpExchange> endpoint,
            Integer... statuses) {
        this(method, path, operation, permission, Set.of(statuses), endpoint);
    }

    /** Returns a route that responds to every request with this problem. */
    static Route rejecting(HttpMethod method, Problem rejected) {
        Consumer<HttpExchange> rejecting = exchange -> {
            throw rejected;
        };
        return new Route(method, "*", "refused", null, rejecting, rejected.status());
    }

    Route with(Consumer<HttpExchange> other) {
        return new Route(method, path, operation, permission, statuses, other);
    }

    boolean aboutDocument() {
        return path.endsWith(REST);
    }

    boolean takesBody() {
        return method.equals(HttpMethod.PUT) || method.equals(HttpMethod.POST);
    }

    boolean matches(String requested) {
        int name = path.indexOf('{');
        return name < 0 ? requested.equals(path) : requested.regionMatches(0, path, 0, name);
    }

    /** Returns the part of a requested path that matches {@link #REST} or {@link #NAME}. */
    String rest(String requested) {
        return requested.substring(path.indexOf('{'));
    }

    Set<Integer> allStatuses() {
        Set<Integer> all = new TreeSet<>(statuses);
        all.addAll(COMMON_STATUSES);
        if (aboutDocument() && permission != null) {
            all.addAll(MOVED_STATUSES);
        }
        return all;
    }
}
