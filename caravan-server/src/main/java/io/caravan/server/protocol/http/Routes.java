package io.caravan.server.protocol.http;

import static io.netty.handler.codec.http.HttpMethod.DELETE;
import static io.netty.handler.codec.http.HttpMethod.GET;
import static io.netty.handler.codec.http.HttpMethod.HEAD;
import static io.netty.handler.codec.http.HttpMethod.POST;
import static io.netty.handler.codec.http.HttpMethod.PUT;

import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.Gate;
import io.caravan.server.protocol.http.connection.Readiness;
import io.caravan.server.protocol.http.connection.Route;
import io.caravan.server.protocol.http.endpoint.Cursors;
import io.caravan.server.protocol.http.endpoint.DocumentList;
import io.caravan.server.protocol.http.endpoint.Endpoints;
import io.caravan.server.protocol.http.endpoint.ServerPages;
import io.caravan.server.protocol.http.endpoint.StreamReads;
import io.caravan.server.protocol.http.endpoint.StreamWrites;
import io.caravan.server.security.Permission;
import io.netty.channel.group.ChannelGroup;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;

/** The table of all routes. A new endpoint goes here, and into {@code openapi.json}. */
final class Routes {
    private static final String STREAM = StreamName.PREFIX + Route.REST;

    private Routes() {}

    static List<Route> all(
            HttpConfig config,
            Gate gate,
            Readiness readiness,
            Executor readers,
            ServerMetrics metrics,
            ChannelGroup connections) {
        Cursors cursors = new Cursors(
                InstantSource.system(), bound -> ThreadLocalRandom.current().nextLong(bound));
        Endpoints endpoints = new Endpoints(readiness, readers, config, cursors, !gate.closed());
        StreamReads reads = new StreamReads(endpoints);
        StreamWrites writes = new StreamWrites(endpoints);
        ServerPages pages = new ServerPages(endpoints, metrics, connections);
        return List.of(
                Route.of(PUT, STREAM, "createStream", Set.of(200, 201, 404, 409, 507), writes::create)
                        .onDocument(Permission.WRITE)
                        .withBody(),
                Route.of(POST, STREAM, "appendToStream", Set.of(200, 204, 404, 409, 410, 507), writes::append)
                        .onDocument(Permission.WRITE)
                        .withBody(),
                Route.of(GET, STREAM, "readStream", Set.of(200, 204, 304, 404, 409, 410), reads::read)
                        .onDocument(Permission.READ),
                Route.of(HEAD, STREAM, "describeStream", Set.of(200, 404, 410), reads::describe)
                        .onDocument(Permission.READ),
                Route.of(DELETE, STREAM, "deleteStream", Set.of(204, 404, 409, 410, 507), writes::delete)
                        .onDocument(Permission.WRITE),
                Route.of(GET, "/v1/documents", "listDocuments", Set.of(200), new DocumentList(endpoints))
                        .needing(Permission.READ),
                Route.of(GET, "/v1/stats", "stats", Set.of(200), pages::stats).needing(Permission.ADMIN),
                Route.of(GET, "/metrics", "metrics", Set.of(200), pages::metrics)
                        .needing(Permission.ADMIN),
                Route.of(GET, "/healthz", "alive", Set.of(200), ServerPages::alive),
                Route.of(GET, "/readyz", "ready", Set.of(200), pages::ready),
                Route.of(GET, "/openapi.json", "openApi", Set.of(200), pages::openApi));
    }
}
