package io.caravan.server.protocol.http.connection;

import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.security.Permission;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A method and path that the server answers. {@code Routes} lists them all, and so does the document at {@code
 * /openapi.json}.
 *
 * @param method a {@code GET} route also answers {@code HEAD}, unless there is a route for that
 * @param path the URL's path; one that ends in <code>{path}</code> matches any rest
 * @param operation its name in metrics and in the description
 * @param permission the permission that the client needs, or null for none
 * @param aboutDocument whether it is about the document that the path names
 * @param takesBody whether the body is kept; otherwise it is discarded
 * @param statuses the codes that it answers with, in addition to {@link #COMMON_STATUSES}
 */
public record Route(
        HttpMethod method,
        String path,
        String operation,
        @Nullable Permission permission,
        boolean aboutDocument,
        boolean takesBody,
        Set<Integer> statuses,
        Endpoint endpoint) {
    public static final String REST = "{path}";

    /** What a route does. */
    public interface Endpoint {
        /**
         * Handles a request that has arrived completely. Called on the connection's event loop, where it must not
         * block; the answer may come later and from any thread.
         *
         * @throws Problem which becomes the answer, as does any other exception, translated by {@link Problem#of}
         */
        void handle(Exchange exchange);
    }

    /** Codes with which any request may be answered, whatever its route. */
    static final Set<Integer> COMMON_STATUSES = Set.of(400, 401, 403, 408, 413, 414, 417, 431, 500, 501, 503, 505);

    public static Route of(HttpMethod method, String path, String operation, Set<Integer> statuses, Endpoint endpoint) {
        return new Route(method, path, operation, null, false, false, statuses, endpoint);
    }

    /** A route that answers with this refusal. */
    static Route refusing(HttpMethod method, Problem refused) {
        return of(method, "*", "refused", Set.of(refused.status()), exchange -> {
            throw refused;
        });
    }

    /** The same for clients with this permission. */
    public Route needing(Permission needed) {
        return new Route(method, path, operation, needed, aboutDocument, takesBody, statuses, endpoint);
    }

    /** The same about the document that the path names. */
    public Route onDocument(Permission needed) {
        return new Route(method, path, operation, needed, true, takesBody, statuses, endpoint);
    }

    /** The same with a body. */
    public Route withBody() {
        return new Route(method, path, operation, permission, aboutDocument, true, statuses, endpoint);
    }

    boolean matches(String requested) {
        return path.endsWith(REST) ? requested.startsWith(prefix()) : requested.equals(path);
    }

    private String prefix() {
        return path.substring(0, path.length() - REST.length());
    }

    /** The part of a requested path that matches {@link #REST}. */
    public String rest(String requested) {
        return requested.substring(prefix().length());
    }

    /** All codes that it answers with. */
    public Set<Integer> allStatuses() {
        Set<Integer> all = new TreeSet<>(statuses);
        all.addAll(COMMON_STATUSES);
        return all;
    }
}
