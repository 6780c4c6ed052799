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
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/** The table of all HTTP routes. New endpoints must be added here and in {@code openapi.json}. */
public final class Routes {
    private static final String STREAM = StreamName.PREFIX + Route.REST;
    private static final String VALUES = "/v1/values/" + Route.REST;
    private static final String BACKUP = ServerEndpoints.BACKUPS + Route.NAME;
    private static final String SPACE = ServerEndpoints.SPACES + Route.NAME;
    private static final String ARCHIVED = "/v1/archive/stream/" + Route.REST;

    private Routes() {}

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
