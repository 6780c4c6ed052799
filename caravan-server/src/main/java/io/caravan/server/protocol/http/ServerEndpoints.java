package io.caravan.server.protocol.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.ArchiveStatus.LastError;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterStatus;
import io.caravan.server.config.Version;
import io.caravan.server.document.DocumentService;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.security.Permission;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Endpoints that report on the server: whether it is alive and ready, its statistics, metrics, and OpenAPI description.
 */
public final class ServerEndpoints {
    private static final String OPEN_API = "openapi.json";

    private final Endpoints endpoints;
    private final ServerMetrics metrics;
    private final Supplier<Stream<ClientInfo>> clients;
    private final long startedNanos = System.nanoTime();
    private volatile byte[] openApi = {};

    public ServerEndpoints(Endpoints endpoints, ServerMetrics metrics, Supplier<Stream<ClientInfo>> clients) {
        this.endpoints = endpoints;
        this.metrics = metrics;
        this.clients = clients;
    }

    /** Reads the OpenAPI description, and adds the error responses of each route, which the file omits. */
    public void describe(List<Route> routes) {
        ObjectMapper json = new ObjectMapper();
        try (InputStream in = ServerEndpoints.class.getResourceAsStream(OPEN_API)) {
            JsonNode description = json.readTree(Objects.requireNonNull(in));
            for (Route route : routes) {
                String method = route.method().name().toLowerCase(Locale.ROOT);
                ObjectNode responses = (ObjectNode)
                        description.at("/paths/" + route.path().replace("/", "~1") + "/" + method + "/responses");
                for (int status : route.allStatuses()) {
                    if (!responses.has(Integer.toString(status))) {
                        responses.putObject(Integer.toString(status)).put("$ref", errorResponse(status));
                    }
                }
            }
            openApi = json.writeValueAsBytes(description);
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read " + OPEN_API, problem);
        }
    }

    /** Returns the OpenAPI reference to the component that describes an error response. */
    private static String errorResponse(int status) {
        String reason = HttpResponseStatus.valueOf(status).reasonPhrase();
        return "#/components/responses/" + reason.replaceAll("[^A-Za-z]", "");
    }

    public static void alive(HttpExchange exchange) {
        exchange.respond(Response.json(200, Map.of("status", "alive")));
    }

    /** Reports whether the server is ready. If not, clients with permission {@code ADMIN} get the detailed reason. */
    public void ready(HttpExchange exchange) {
        Readiness readiness = endpoints.readiness();
        Problem problem = readiness.problem(exchange.principal().may(Permission.ADMIN));
        if (problem != null) {
            exchange.respond(problem.response());
            return;
        }
        Map<String, Object> fields = Response.fields("status", "ready");
        Cluster cluster = readiness.cluster();
        if (cluster != null) {
            fields.put("cluster", ClusterStatus.Summary.of(cluster));
        }
        ArchiveStatus archive = readiness.archive();
        if (archive != null) {
            fields.put("archive", brief(archive));
        }
        exchange.respond(Response.json(200, fields));
    }

    /**
     * Returns a summary of the archive's status without names and addresses, because clients without a token can read
     * it.
     */
    private static Map<String, Object> brief(ArchiveStatus archive) {
        long success = archive.lastSuccessMillis();
        LastError last = archive.lastError();
        return Response.fields(
                "state", archive.state().label(),
                "lagSeconds", archive.lagSeconds(),
                "overdueSeconds", archive.overdueSeconds(),
                "backlog", archive.backlog(),
                "lastSuccess", success == 0 ? null : Endpoints.moment(success),
                "lastError",
                        last == null ? null : Map.of("kind", last.kind(), "at", Endpoints.moment(last.atMillis())));
    }

    public void stats(HttpExchange exchange) {
        DocumentService documents = endpoints.readiness().documents();
        endpoints.respond(exchange, () -> Response.json(200, stats(documents)));
    }

    private Map<String, Object> stats(DocumentService documents) {
        Readiness readiness = endpoints.readiness();
        return Response.fields(
                "documents", documents.documents(),
                "tailedDocuments", documents.tailedDocuments(),
                "httpConnections", clients.get().count(),
                "respConnections", readiness.served().otherClients().get().count(),
                "version", Version.current(),
                "uptimeSeconds", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos),
                "requests", metrics.requests(),
                "store", documents.store().stats(),
                "archive", readiness.archive());
    }

    public void metrics(HttpExchange exchange) {
        endpoints.respond(
                exchange,
                () -> new Response(200)
                        .uncached()
                        .body(ServerMetrics.CONTENT_TYPE, metrics.scrape().getBytes(StandardCharsets.UTF_8)));
    }

    public void openApi(HttpExchange exchange) {
        exchange.respond(new Response(200).header("Cache-Control", "no-cache").body(Response.JSON, openApi));
    }
}
