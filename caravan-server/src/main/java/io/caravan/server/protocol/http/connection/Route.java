package io.caravan.server.protocol.http.connection;

import io.caravan.server.protocol.http.codec.ProblemException;
import io.caravan.server.security.Permission;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Something that clients can ask for. The table of them is {@code Routes}; the document that {@code /openapi.json} serves
 * says the same.
 *
 * @param method {@code HEAD} of a route for {@code GET} need not be there
 * @param path the URL's path; one that ends in <code>{path}</code> takes all behind it
 * @param operation its name, in figures and in the document
 * @param permission what the client must be allowed to, or null for nothing
 * @param aboutDocument whether it is about the document that the path names
 * @param takesBody whether a body is read; otherwise it is dropped
 * @param statuses the codes that it answers with, beside {@link #COMMON_STATUSES}
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

    /** What any request may be answered with, before it is known what it asks for or whatever it does. */
    static final Set<Integer> COMMON_STATUSES = Set.of(400, 401, 403, 408, 413, 414, 417, 431, 500, 501, 503, 505);

    public static Route of(HttpMethod method, String path, String operation, Set<Integer> statuses, Endpoint endpoint) {
        return new Route(method, path, operation, null, false, false, statuses, endpoint);
    }

    /** Answers a request that is already refused. */
    static Route refusing(HttpMethod method, ProblemException refused) {
        return of(method, "*", "refused", Set.of(refused.problem().status().code()), exchange -> {
            throw refused;
        });
    }

    /** The same for clients that are allowed this. */
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

    /** What of a requested path stands for {@link #REST}. */
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
