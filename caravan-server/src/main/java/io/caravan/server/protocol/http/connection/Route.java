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
 * @param path the URL's path; one that ends in <code>{path}</code> matches any rest, which names a document, and one
 *     that ends in <code>{name}</code> any rest, which names something else
 * @param operation its name in metrics and in the description
 * @param permission the permission that the client needs, for the document if the path names one; null for none
 * @param statuses the codes that it answers with, in addition to {@link #COMMON_STATUSES}
 * @param takesValues whether the body has several values in Base64, and may be longer than a value
 */
public record Route(
        HttpMethod method,
        String path,
        String operation,
        @Nullable Permission permission,
        Set<Integer> statuses,
        boolean takesValues,
        Endpoint endpoint) {
    public static final String REST = "{path}";
    public static final String NAME = "{name}";

    /** Codes with which any request may be answered, whatever its route. */
    static final Set<Integer> COMMON_STATUSES =
            Set.of(400, 401, 403, 408, 412, 413, 414, 415, 417, 431, 500, 501, 503, 505);

    /** Codes for a document that was moved to another server. */
    private static final Set<Integer> MOVED_STATUSES = Set.of(307, 421);

    /** So many bytes of values are in one body, whatever the length of one, in Base64 and with what belongs to them. */
    private static final int VALUES_BYTES = 1024 * 1024;

    private static final int VALUES_ROOM_BYTES = 64 * 1024;

    /** A route whose body is one value at most. */
    public Route(
            HttpMethod method,
            String path,
            String operation,
            @Nullable Permission permission,
            Set<Integer> statuses,
            Endpoint endpoint) {
        this(method, path, operation, permission, statuses, false, endpoint);
    }

    /** How long its body may be, where a value may have so many bytes. */
    int maxBodyBytes(int maxValueBytes) {
        return takesValues
                ? (int) Math.min(Integer.MAX_VALUE, Math.max(maxValueBytes, VALUES_BYTES) * 4L / 3 + VALUES_ROOM_BYTES)
                : maxValueBytes;
    }

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

    /** A route that answers with this refusal. */
    static Route refusing(HttpMethod method, Problem refused) {
        return new Route(method, "*", "refused", null, Set.of(refused.status()), exchange -> {
            throw refused;
        });
    }

    /** The same, which does something else. */
    public Route with(Endpoint other) {
        return new Route(method, path, operation, permission, statuses, takesValues, other);
    }

    /** Whether it is about the document that the path names. */
    public boolean aboutDocument() {
        return path.endsWith(REST);
    }

    /** Whether the body is kept; otherwise it is discarded. */
    boolean takesBody() {
        return method.equals(HttpMethod.PUT) || method.equals(HttpMethod.POST);
    }

    boolean matches(String requested) {
        return aboutDocument() || path.endsWith(NAME)
                ? requested.regionMatches(0, path, 0, path.indexOf('{'))
                : requested.equals(path);
    }

    /** The part of a requested path that matches {@link #REST} or {@link #NAME}. */
    public String rest(String requested) {
        return requested.substring(path.indexOf('{'));
    }

    /** All codes that it answers with. */
    public Set<Integer> allStatuses() {
        Set<Integer> all = new TreeSet<>(statuses);
        all.addAll(COMMON_STATUSES);
        if (aboutDocument() && permission != null) {
            all.addAll(MOVED_STATUSES);
        }
        return all;
    }
}
