package io.caravan.server.protocol.http;

import static io.caravan.server.security.Permission.ADMIN;
import static io.caravan.server.security.Permission.READ;
import static io.caravan.server.security.Permission.WRITE;
import static io.netty.handler.codec.http.HttpMethod.DELETE;
import static io.netty.handler.codec.http.HttpMethod.GET;
import static io.netty.handler.codec.http.HttpMethod.HEAD;
import static io.netty.handler.codec.http.HttpMethod.POST;
import static io.netty.handler.codec.http.HttpMethod.PUT;

import io.caravan.server.net.ClientInfo;
import io.caravan.server.net.Transport;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The table of all HTTP routes. New endpoints must be added here and in {@code openapi.json}. */
public final class Routes {
    private static final String STREAM = StreamName.PREFIX + Route.REST;
    private static final String VALUES = "/v1/values/" + Route.REST;
    private static final String EXPORT = "/v1/export/" + Route.REST;
    private static final String IMPORT = "/v1/import/" + Route.REST;
    private static final String MOVE = "/v1/move/" + Route.REST;
    private static final String BACKUP = OperatorEndpoints.BACKUPS + Route.NAME;
    private static final String SPACE = OperatorEndpoints.SPACES + Route.NAME;
    private static final String ARCHIVED = "/v1/archive/stream/" + Route.REST;

    private Routes() {}

    /**
     * Returns a function that creates the routes of a protocol.
     *
     * @param readers runs reads, which may block
     * @param transport creates connections to the leader
     */
    public static Function<HttpProtocol, List<Route>> all(Executor readers, Transport transport) {
        return http -> all(http, readers, new LeaderProxy(transport));
    }

    private static List<Route> all(HttpProtocol http, Executor readers, LeaderProxy relay) {
        Readiness readiness = http.readiness();
        Supplier<Stream<ClientInfo>> clients = http::clients;
        Endpoints endpoints =
                new Endpoints(readiness, readers, http.config(), !http.authenticator().required());
        StreamReads reads = new StreamReads(endpoints);
        StreamWrites writes = new StreamWrites(endpoints);
        ServerEndpoints pages = new ServerEndpoints(endpoints, http.metrics(), clients);
        OperatorEndpoints operators = new OperatorEndpoints(endpoints, clients);
        ArchiveEndpoints archive = new ArchiveEndpoints(endpoints);
        MigrationEndpoints migrations = new MigrationEndpoints(endpoints);
        Route.Endpoint read = endpoints.current(reads::read);
        Route.Endpoint describe = endpoints.current(reads::describe);
        Route.Endpoint follow = endpoints.current(reads::follow);
        Route.Endpoint list = endpoints.current(new DocumentList(endpoints));
        Route.Endpoint values = endpoints.current(new ValueEndpoints(endpoints)::values);
        Route.Endpoint export = endpoints.current(migrations::export);
        Route.Endpoint batch = new StreamBatches(endpoints)::change;
        Route.Endpoint load = migrations::importDocument;
        List<Route> ofDocuments = List.of(
                new Route(PUT, STREAM, "createStream", WRITE, writes::create, 200, 201, 404, 409, 429, 507),
                new Route(POST, STREAM, "appendToStream", WRITE, writes::append, 200, 204, 404, 409, 410, 429, 507),
                new Route(GET, STREAM, StreamReads.READ, READ, read, 200, 204, 304, 404, 409, 410),
                new Route(HEAD, STREAM, "describeStream", READ, describe, 200, 404, 410),
                new Route(DELETE, STREAM, "deleteStream", WRITE, writes::delete, 204, 404, 409, 410, 507),
                new Route(POST, "/v1/batch", StreamBatches.OPERATION, WRITE, batch, 200, 404, 409, 410, 421, 429, 507),
                new Route(POST, "/v1/live", StreamReads.FOLLOW, READ, follow, 200, 409),
                new Route(GET, "/v1/documents", DocumentList.OPERATION, READ, list, 200),
                new Route(GET, VALUES, "readValues", READ, values, 200, 404, 409, 410),
                new Route(GET, EXPORT, "exportDocument", READ, export, 200, 404, 410),
                new Route(POST, IMPORT, "importDocument", WRITE, load, 200, 404, 409, 410, 429, 507).takingValues(),
                new Route(POST, MOVE, "moveDocument", WRITE, migrations::move, 200, 404, 409, 410, 507),
                new Route(GET, "/v1/store", "store", ADMIN, operators::store, 200),
                new Route(POST, "/v1/checkpoint", "makeCheckpoint", ADMIN, operators::checkpoint, 204, 507),
                new Route(GET, "/v1/clients", "clients", ADMIN, operators::clients, 200),
                new Route(GET, "/v1/settings", "settings", ADMIN, operators::settings, 200),
                new Route(GET, "/v1/archive", "archive", ADMIN, archive::status, 200),
                new Route(GET, ARCHIVED, "generations", READ, archive::generations, 200, 404),
                new Route(POST, ARCHIVED, "restoreStream", WRITE, archive::restore, 200, 404, 409, 410, 507),
                new Route(GET, "/v1/backups", "backups", ADMIN, operators::backups, 200, 404),
                new Route(GET, BACKUP, "backup", ADMIN, operators::backup, 200, 404),
                new Route(POST, BACKUP, "makeBackup", ADMIN, operators::startBackup, 202, 404, 409),
                new Route(GET, "/v1/spaces", "spaces", ADMIN, operators::spaces, 200),
                new Route(GET, SPACE, "space", ADMIN, operators::space, 200, 404),
                new Route(PUT, SPACE, "setSpace", ADMIN, operators::setSpace, 200, 507),
                new Route(DELETE, SPACE, "removeSpace", ADMIN, operators::removeSpace, 204, 404, 507),
                new Route(GET, "/v1/stats", "stats", ADMIN, pages::stats, 200));
        Route.Endpoint file = new ConsoleFiles()::file;
        List<Route> ofNode = List.of(
                new Route(GET, "/v1/cluster", "cluster", ADMIN, operators::cluster, 200, 404),
                new Route(GET, "/", "root", null, ConsoleFiles::redirect, 302),
                new Route(GET, "/console", "console", null, ConsoleFiles::redirect, 302),
                new Route(GET, ConsoleFiles.PREFIX + Route.REST, "consoleFile", null, file, 200, 304, 404),
                new Route(GET, "/metrics", "metrics", ADMIN, pages::metrics, 200),
                new Route(GET, "/healthz", "alive", null, ServerEndpoints::alive, 200),
                new Route(GET, "/readyz", "ready", null, pages::ready, 200),
                new Route(GET, "/openapi.json", "openApi", null, pages::openApi, 200));
        List<Route> all = Stream.concat(
                        ofDocuments.stream().map(route -> relay.around(route, readiness)), ofNode.stream())
                .toList();
        pages.describe(all);
        return all;
    }
}
