package io.caravan.server.protocol.http;

import static io.netty.handler.codec.http.HttpMethod.DELETE;
import static io.netty.handler.codec.http.HttpMethod.GET;
import static io.netty.handler.codec.http.HttpMethod.HEAD;
import static io.netty.handler.codec.http.HttpMethod.POST;
import static io.netty.handler.codec.http.HttpMethod.PUT;

import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.codec.JsonBody;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.Gate;
import io.caravan.server.protocol.http.connection.Readiness;
import io.caravan.server.protocol.http.connection.Route;
import io.caravan.server.protocol.http.connection.Router;
import io.caravan.server.protocol.http.endpoint.DocumentList;
import io.caravan.server.protocol.http.endpoint.Health;
import io.caravan.server.protocol.http.endpoint.Metrics;
import io.caravan.server.protocol.http.endpoint.OpenApi;
import io.caravan.server.protocol.http.endpoint.Stats;
import io.caravan.server.protocol.http.endpoint.StreamAppend;
import io.caravan.server.protocol.http.endpoint.StreamCreate;
import io.caravan.server.protocol.http.endpoint.StreamDelete;
import io.caravan.server.protocol.http.endpoint.StreamHead;
import io.caravan.server.protocol.http.endpoint.StreamRead;
import io.caravan.server.protocol.http.endpoint.Writes;
import io.caravan.server.protocol.http.read.Cursors;
import io.caravan.server.protocol.http.read.ReadParts;
import io.caravan.server.security.Permission;
import io.netty.channel.group.ChannelGroup;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;

/** The table of all that clients can ask for. */
public final class Routes {
    private static final String STREAM = StreamName.PREFIX + Route.REST;

    private Routes() {}

    static Router router(
            HttpConfig config,
            Gate gate,
            Readiness readiness,
            Executor readers,
            ServerMetrics metrics,
            ChannelGroup connections) {
        Cursors cursors = new Cursors(
                InstantSource.system(), bound -> ThreadLocalRandom.current().nextLong(bound));
        ReadParts reads = new ReadParts(readiness, readers, config, cursors, !gate.closed());
        Writes writes = new Writes(readiness, readers);
        JsonBody json = new JsonBody(config.maxBatchBytes());
        return new Router(List.of(
                Route.of(PUT, STREAM, "createStream", Set.of(200, 201, 404, 409, 507), new StreamCreate(writes, json))
                        .onDocument(Permission.WRITE)
                        .withBody(),
                Route.of(
                                POST,
                                STREAM,
                                "appendToStream",
                                Set.of(200, 204, 404, 409, 410, 507),
                                new StreamAppend(writes, json))
                        .onDocument(Permission.WRITE)
                        .withBody(),
                Route.of(GET, STREAM, "readStream", Set.of(200, 204, 304, 404, 409, 410), new StreamRead(reads))
                        .onDocument(Permission.READ),
                Route.of(HEAD, STREAM, "describeStream", Set.of(200, 404, 410), new StreamHead(reads))
                        .onDocument(Permission.READ),
                Route.of(DELETE, STREAM, "deleteStream", Set.of(204, 404, 409, 410, 507), new StreamDelete(writes))
                        .onDocument(Permission.WRITE),
                Route.of(GET, "/v1/documents", "listDocuments", Set.of(200), new DocumentList(reads))
                        .needing(Permission.READ),
                Route.of(GET, "/v1/stats", "stats", Set.of(200), new Stats(reads, connections))
                        .needing(Permission.ADMIN),
                Route.of(GET, "/metrics", "metrics", Set.of(200), new Metrics(reads, metrics))
                        .needing(Permission.ADMIN),
                Route.of(GET, "/healthz", "alive", Set.of(200), Health::alive),
                Route.of(GET, "/readyz", "ready", Set.of(200), new Health(readiness)),
                Route.of(GET, "/openapi.json", "openApi", Set.of(200), new OpenApi())));
    }
}
