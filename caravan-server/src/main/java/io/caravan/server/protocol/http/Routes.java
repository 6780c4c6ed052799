package io.caravan.server.protocol.http;

import static io.caravan.server.security.Permission.ADMIN;
import static io.caravan.server.security.Permission.READ;
import static io.caravan.server.security.Permission.WRITE;
import static io.netty.handler.codec.http.HttpMethod.DELETE;
import static io.netty.handler.codec.http.HttpMethod.GET;
import static io.netty.handler.codec.http.HttpMethod.HEAD;
import static io.netty.handler.codec.http.HttpMethod.POST;
import static io.netty.handler.codec.http.HttpMethod.PUT;

import io.caravan.server.net.Transport;
import io.caravan.server.security.Permission;
import io.netty.handler.codec.http.HttpMethod;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The table of all HTTP routes. New endpoints must be added here and in {@code openapi.json}. */
public final class Routes {
    private static final String STREAM = StreamName.PREFIX + Route.REST;
    private static final String VALUES = "/v1/values/" + Route.REST;
    private static final String BACKUP = ServerEndpoints.BACKUPS + Route.NAME;
    private static final String SPACE = ServerEndpoints.SPACES + Route.NAME;
    private static final String ARCHIVED = "/v1/archive/stream/" + Route.REST;

    /** Answers the question of a browser whether a page of another origin may send a request. */
    static final Route PREFLIGHT = new Route(
            HttpMethod.OPTIONS, "*", "preflight", null, exchange -> exchange.respond(Origins.preflight()), 204);

    private Routes() {}

    /**
     * A method and path that the server handles. The document at {@code /openapi.json} describes all routes.
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

    /** Returns the route of a request. Throws {@link Problem} if no route has this path or method. */
    static Route find(List<Route> routes, HttpMethod method, String path) {
        for (Route route : routes) {
            if (route.method.equals(method) && route.matches(path)) {
                return route;
            }
        }
        Set<HttpMethod> methods = routes.stream()
                .filter(route -> route.matches(path))
                .map(Route::method)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        if (methods.isEmpty()) {
            throw new Problem(
                    404, "unknown_path", "there is no endpoint at this path; /openapi.json lists all endpoints");
        }
        if (methods.contains(GET)) {
            if (method.equals(HEAD)) {
                return find(routes, GET, path);
            }
            methods.add(HEAD);
        }
        methods.add(HttpMethod.OPTIONS);
        String names = methods.stream().map(HttpMethod::name).collect(Collectors.joining(", "));
        throw new Problem(405, "method_not_allowed", "this path supports " + names + ", not " + method.name())
                .with("Allow", names);
    }

    /** Returns a function that creates the routes of a protocol; {@code transport} creates connections to the leader. */
    public static Function<HttpProtocol, List<Route>> all(Transport transport) {
        return http -> all(http, new LeaderProxy(transport));
    }

    /** Returns an endpoint that creates its response on the event loop. */
    private static Consumer<HttpExchange> now(Function<HttpExchange, Response> endpoint) {
        return exchange -> exchange.respond(endpoint.apply(exchange));
    }

    /** Returns an endpoint that creates a long response on the event loop, when memory for it is available. */
    private static Consumer<HttpExchange> whenRoom(Function<HttpExchange, Response> endpoint) {
        return exchange -> exchange.read(() -> exchange.respond(endpoint.apply(exchange)), exchange.loop());
    }

    /** Returns an endpoint that creates its response on a reading thread. */
    private static Consumer<HttpExchange> apart(Function<HttpExchange, Response> endpoint) {
        return exchange -> exchange.read(() -> exchange.respond(endpoint.apply(exchange)));
    }

    /** Wraps a read endpoint: each request must first pass the read barrier, and fails if the barrier rejects it. */
    private static Consumer<HttpExchange> current(Consumer<HttpExchange> read) {
        return exchange -> exchange.documents()
                .readBarrier()
                .pass(
                        () -> exchange.onLoop(() -> {
                            if (!exchange.over) {
                                exchange.run(() -> read.accept(exchange));
                            }
                        }),
                        exchange::fail);
    }

    private static List<Route> all(HttpProtocol http, LeaderProxy relay) {
        ServerEndpoints server = new ServerEndpoints();
        Consumer<HttpExchange> read = current(StreamReads::read);
        Consumer<HttpExchange> describe = current(apart(StreamReads::describe));
        Consumer<HttpExchange> follow = current(StreamReads::follow);
        Consumer<HttpExchange> list = current(apart(DocumentList::list));
        Consumer<HttpExchange> values = current(apart(ValueEndpoints::values));
        Consumer<HttpExchange> batch = StreamBatches::change;
        Consumer<HttpExchange> startBackup = apart(ServerEndpoints::startBackup);
        List<Route> ofDocuments = List.of(
                new Route(PUT, STREAM, "createStream", WRITE, StreamWrites::create, 200, 201, 404, 409, 429, 507),
                new Route(
                        POST, STREAM, "appendToStream", WRITE, StreamWrites::append, 200, 204, 404, 409, 410, 429, 507),
                new Route(GET, STREAM, StreamReads.READ, READ, read, 200, 204, 304, 404, 409, 410),
                new Route(HEAD, STREAM, "describeStream", READ, describe, 200, 404, 410),
                new Route(DELETE, STREAM, "deleteStream", WRITE, StreamWrites::delete, 204, 404, 409, 410, 507),
                new Route(POST, "/v1/batch", StreamBatches.OPERATION, WRITE, batch, 200, 404, 409, 410, 421, 429, 507),
                new Route(POST, "/v1/live", StreamReads.FOLLOW, READ, follow, 200, 409),
                new Route(GET, "/v1/documents", DocumentList.OPERATION, READ, list, 200),
                new Route(GET, VALUES, "readValues", READ, values, 200, 404, 409, 410),
                new Route(GET, "/v1/store", "store", ADMIN, apart(server::store), 200),
                new Route(
                        POST, "/v1/checkpoint", "makeCheckpoint", ADMIN, apart(ServerEndpoints::checkpoint), 204, 507),
                new Route(GET, "/v1/clients", "clients", ADMIN, apart(ServerEndpoints::clients), 200),
                new Route(GET, "/v1/settings", "settings", ADMIN, now(ServerEndpoints::settings), 200),
                new Route(GET, "/v1/archive", "archive", ADMIN, now(ArchiveEndpoints::status), 200),
                new Route(GET, ARCHIVED, "generations", READ, ArchiveEndpoints::generations, 200, 404),
                new Route(POST, ARCHIVED, "restoreStream", WRITE, ArchiveEndpoints::restore, 200, 404, 409, 410, 507),
                new Route(GET, "/v1/backups", "backups", ADMIN, apart(ServerEndpoints::backups), 200, 404),
                new Route(GET, BACKUP, "backup", ADMIN, apart(ServerEndpoints::backup), 200, 404),
                new Route(POST, BACKUP, "makeBackup", ADMIN, startBackup, 202, 404, 409),
                new Route(GET, "/v1/spaces", "spaces", ADMIN, apart(ServerEndpoints::spaces), 200),
                new Route(GET, SPACE, "space", ADMIN, apart(ServerEndpoints::space), 200, 404),
                new Route(PUT, SPACE, "setSpace", ADMIN, apart(ServerEndpoints::setSpace), 200, 507),
                new Route(DELETE, SPACE, "removeSpace", ADMIN, apart(ServerEndpoints::removeSpace), 204, 404, 507),
                new Route(GET, "/v1/stats", "stats", ADMIN, apart(server::stats), 200));
        Consumer<HttpExchange> redirect = now(ConsoleFiles::redirect);
        Consumer<HttpExchange> file = whenRoom(new ConsoleFiles()::file);
        List<Route> ofNode = List.of(
                new Route(GET, "/v1/cluster", "cluster", ADMIN, now(ServerEndpoints::cluster), 200, 404),
                new Route(GET, "/", "root", null, redirect, 302),
                new Route(GET, "/console", "console", null, redirect, 302),
                new Route(GET, ConsoleFiles.PREFIX + Route.REST, "consoleFile", null, file, 200, 304, 404),
                new Route(GET, "/metrics", "metrics", ADMIN, apart(ServerEndpoints::metrics), 200),
                new Route(GET, "/healthz", "alive", null, now(ServerEndpoints::alive), 200),
                new Route(GET, "/readyz", "ready", null, now(ServerEndpoints::ready), 200),
                new Route(GET, "/openapi.json", "openApi", null, whenRoom(server::openApi), 200));
        List<Route> all = Stream.concat(ofDocuments.stream().map(route -> relay.around(route, http)), ofNode.stream())
                .toList();
        server.describe(all);
        return all;
    }
}
