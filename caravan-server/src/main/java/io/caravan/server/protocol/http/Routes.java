package io.caravan.server.protocol.http;

import static io.caravan.server.security.Permission.ADMIN;
import static io.caravan.server.security.Permission.READ;
import static io.caravan.server.security.Permission.WRITE;
import static io.netty.handler.codec.http.HttpMethod.DELETE;
import static io.netty.handler.codec.http.HttpMethod.GET;
import static io.netty.handler.codec.http.HttpMethod.HEAD;
import static io.netty.handler.codec.http.HttpMethod.POST;
import static io.netty.handler.codec.http.HttpMethod.PUT;

import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.HttpAuthorizer;
import io.caravan.server.protocol.http.connection.Readiness;
import io.caravan.server.protocol.http.connection.Route;
import io.caravan.server.protocol.http.endpoint.ArchiveEndpoints;
import io.caravan.server.protocol.http.endpoint.BackupEndpoints;
import io.caravan.server.protocol.http.endpoint.ConsoleFiles;
import io.caravan.server.protocol.http.endpoint.Cursors;
import io.caravan.server.protocol.http.endpoint.DocumentList;
import io.caravan.server.protocol.http.endpoint.Endpoints;
import io.caravan.server.protocol.http.endpoint.LeaderProxy;
import io.caravan.server.protocol.http.endpoint.MigrationEndpoints;
import io.caravan.server.protocol.http.endpoint.OperatorEndpoints;
import io.caravan.server.protocol.http.endpoint.ServerEndpoints;
import io.caravan.server.protocol.http.endpoint.SpaceEndpoints;
import io.caravan.server.protocol.http.endpoint.StreamBatches;
import io.caravan.server.protocol.http.endpoint.StreamReads;
import io.caravan.server.protocol.http.endpoint.StreamWrites;
import io.caravan.server.protocol.http.endpoint.ValueEndpoints;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The table of all HTTP routes. New endpoints must be added here and in {@code openapi.json}. */
final class Routes {
    private static final String STREAM = StreamName.PREFIX + Route.REST;
    private static final String VALUES = "/v1/values/" + Route.REST;
    private static final String EXPORT = "/v1/export/" + Route.REST;
    private static final String IMPORT = "/v1/import/" + Route.REST;
    private static final String MOVE = "/v1/move/" + Route.REST;
    private static final String BACKUP = BackupEndpoints.PREFIX + Route.NAME;
    private static final String SPACE = SpaceEndpoints.PREFIX + Route.NAME;
    private static final String ARCHIVED = "/v1/archive/stream/" + Route.REST;

    private Routes() {}

    static List<Route> all(
            HttpConfig config,
            HttpAuthorizer gate,
            Readiness readiness,
            Executor readers,
            ServerMetrics metrics,
            Supplier<Stream<ClientInfo>> clients,
            LeaderProxy relay) {
        Cursors cursors = new Cursors(
                InstantSource.system(), bound -> ThreadLocalRandom.current().nextLong(bound));
        Endpoints endpoints = new Endpoints(readiness, readers, config, cursors, !gate.closed());
        StreamReads reads = new StreamReads(endpoints);
        StreamWrites writes = new StreamWrites(endpoints);
        ServerEndpoints pages = new ServerEndpoints(endpoints, metrics, clients);
        OperatorEndpoints operators = new OperatorEndpoints(endpoints, clients);
        ArchiveEndpoints archive = new ArchiveEndpoints(endpoints);
        BackupEndpoints backups = new BackupEndpoints(endpoints);
        SpaceEndpoints spaces = new SpaceEndpoints(endpoints);
        MigrationEndpoints carry = new MigrationEndpoints(endpoints);
        ConsoleFiles console = new ConsoleFiles();
        List<Route> ofDocuments = List.of(
                new Route(PUT, STREAM, "createStream", WRITE, Set.of(200, 201, 404, 409, 429, 507), writes::create),
                new Route(
                        POST,
                        STREAM,
                        "appendToStream",
                        WRITE,
                        Set.of(200, 204, 404, 409, 410, 429, 507),
                        writes::append),
                new Route(
                        GET,
                        STREAM,
                        StreamReads.READ,
                        READ,
                        Set.of(200, 204, 304, 404, 409, 410),
                        endpoints.current(reads::read)),
                new Route(
                        HEAD,
                        STREAM,
                        "describeStream",
                        READ,
                        Set.of(200, 404, 410),
                        endpoints.current(reads::describe)),
                new Route(DELETE, STREAM, "deleteStream", WRITE, Set.of(204, 404, 409, 410, 507), writes::delete),
                new Route(
                        POST,
                        "/v1/batch",
                        StreamBatches.OPERATION,
                        WRITE,
                        Set.of(200, 404, 409, 410, 421, 429, 507),
                        new StreamBatches(endpoints)::change),
                new Route(
                        POST, "/v1/live", StreamReads.FOLLOW, READ, Set.of(200, 409), endpoints.current(reads::follow)),
                new Route(
                        GET,
                        "/v1/documents",
                        DocumentList.OPERATION,
                        READ,
                        Set.of(200),
                        endpoints.current(new DocumentList(endpoints))),
                new Route(
                        GET,
                        VALUES,
                        "readValues",
                        READ,
                        Set.of(200, 404, 409, 410),
                        endpoints.current(new ValueEndpoints(endpoints)::values)),
                new Route(GET, EXPORT, "exportDocument", READ, Set.of(200, 404, 410), endpoints.current(carry::export)),
                new Route(
                        POST,
                        IMPORT,
                        "importDocument",
                        WRITE,
                        Set.of(200, 404, 409, 410, 429, 507),
                        true,
                        carry::importDocument),
                new Route(POST, MOVE, "moveDocument", WRITE, Set.of(200, 404, 409, 410, 507), carry::move),
                new Route(GET, "/v1/store", "store", ADMIN, Set.of(200), operators::store),
                new Route(POST, "/v1/checkpoint", "makeCheckpoint", ADMIN, Set.of(204, 507), operators::checkpoint),
                new Route(GET, "/v1/clients", "clients", ADMIN, Set.of(200), operators::clients),
                new Route(GET, "/v1/settings", "settings", ADMIN, Set.of(200), operators::settings),
                new Route(GET, "/v1/archive", "archive", ADMIN, Set.of(200), archive::status),
                new Route(GET, ARCHIVED, "generations", READ, Set.of(200, 404), archive::generations),
                new Route(POST, ARCHIVED, "restoreStream", WRITE, Set.of(200, 404, 409, 410, 507), archive::restore),
                new Route(GET, "/v1/backups", "backups", ADMIN, Set.of(200, 404), backups::list),
                new Route(GET, BACKUP, "backup", ADMIN, Set.of(200, 404), backups::find),
                new Route(POST, BACKUP, "makeBackup", ADMIN, Set.of(202, 404, 409), backups::start),
                new Route(GET, "/v1/spaces", "spaces", ADMIN, Set.of(200), spaces::list),
                new Route(GET, SPACE, "space", ADMIN, Set.of(200, 404), spaces::find),
                new Route(PUT, SPACE, "setSpace", ADMIN, Set.of(200, 507), spaces::set),
                new Route(DELETE, SPACE, "removeSpace", ADMIN, Set.of(204, 404, 507), spaces::remove),
                new Route(GET, "/v1/stats", "stats", ADMIN, Set.of(200), pages::stats));
        List<Route> ofNode = List.of(
                new Route(GET, "/v1/cluster", "cluster", ADMIN, Set.of(200, 404), operators::cluster),
                new Route(GET, "/", "root", null, Set.of(302), ConsoleFiles::redirect),
                new Route(GET, "/console", "console", null, Set.of(302), ConsoleFiles::redirect),
                new Route(
                        GET,
                        ConsoleFiles.PREFIX + Route.REST,
                        "consoleFile",
                        null,
                        Set.of(200, 304, 404),
                        console::file),
                new Route(GET, "/metrics", "metrics", ADMIN, Set.of(200), pages::metrics),
                new Route(GET, "/healthz", "alive", null, Set.of(200), ServerEndpoints::alive),
                new Route(GET, "/readyz", "ready", null, Set.of(200), pages::ready),
                new Route(GET, "/openapi.json", "openApi", null, Set.of(200), pages::openApi));
        List<Route> all = Stream.concat(
                        ofDocuments.stream().map(route -> relay.around(route, readiness)), ofNode.stream())
                .toList();
        pages.describe(all);
        return all;
    }
}
