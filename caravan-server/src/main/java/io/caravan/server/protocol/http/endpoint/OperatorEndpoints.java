package io.caravan.server.protocol.http.endpoint;

import io.caravan.StoreLayout;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterStatus;
import io.caravan.server.document.DocumentService;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Response;
import io.caravan.server.protocol.http.connection.HttpExchange;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Endpoints for operators: the layout of the store on disk, checkpoints, clients, the cluster, and the current
 * settings.
 */
public final class OperatorEndpoints {
    /** The maximum number of listed connections, separately for HTTP and for the other protocols. */
    private static final int MAX_CLIENTS = 1_000;

    private static final Duration LAYOUT_AGE = Duration.ofSeconds(2);

    private final Endpoints endpoints;
    private final Supplier<Stream<ClientInfo>> httpClients;
    /** The cached layouts, by shard number. */
    private final Map<Integer, CachedResult<StoreLayout>> layouts = new ConcurrentHashMap<>();

    public OperatorEndpoints(Endpoints endpoints, Supplier<Stream<ClientInfo>> httpClients) {
        this.endpoints = endpoints;
        this.httpClients = httpClients;
    }

    /**
     * Returns the layout of one of the store's shards: the log, the part of the log that is not yet in the heap, and
     * the segments of the heap.
     */
    public void store(HttpExchange exchange) {
        DocumentService documents = endpoints.readiness().documents();
        int group = (int) Math.min(
                documents.shards(), DocumentList.number(exchange.request().query(), "shard", 0));
        if (group == documents.shards()) {
            throw Problem.badRequest(
                    "invalid_parameter", "shard must be below the number of the store's shards, " + documents.shards());
        }
        CachedResult<StoreLayout> shared =
                layouts.computeIfAbsent(group, any -> new CachedResult<>(LAYOUT_AGE, System::nanoTime));
        endpoints.read(exchange, () -> {
            StoreLayout layout =
                    shared.get(() -> documents.store().shards().get(group).layout());
            Map<String, Object> response = new LinkedHashMap<>();
            response.put("shard", group);
            response.put("shards", documents.shards());
            response.put("log", layout.log());
            response.put("heap", layout.heap());
            response.put("pinsComplete", layout.pinsComplete());
            exchange.respond(Response.json(200, response));
        });
    }

    public void clients(HttpExchange exchange) {
        Supplier<Stream<ClientInfo>> others = endpoints.readiness().served().otherClients();
        endpoints.read(exchange, () -> exchange.respond(Response.json(200, listed(others.get()))));
    }

    /** Publishes a checkpoint, and then responds. The durability of writes does not depend on checkpoints. */
    public void checkpoint(HttpExchange exchange) {
        DocumentService documents = endpoints.readiness().documents();
        endpoints.read(exchange, () -> {
            documents.store().checkpoint();
            exchange.respond(new Response(204).uncached());
        });
    }

    /** Describes the cluster as seen by this node. */
    public void cluster(HttpExchange exchange) {
        Cluster cluster = endpoints.readiness().cluster();
        if (cluster == null) {
            throw new Problem(
                    404, "no_cluster", "this server is not part of a cluster: it was started without --cluster-file");
        }
        exchange.respond(Response.json(200, ClusterStatus.of(cluster)));
    }

    private Map<String, Object> listed(Stream<ClientInfo> others) {
        List<ClientInfo> listed = Stream.concat(
                        others.limit(MAX_CLIENTS), httpClients.get().limit(MAX_CLIENTS))
                .toList();
        Map<String, Object> response = new LinkedHashMap<>();
        response.put("clients", listed);
        return response;
    }

    public void settings(HttpExchange exchange) {
        exchange.respond(Response.json(
                200, Map.of("settings", endpoints.readiness().served().settings())));
    }
}
