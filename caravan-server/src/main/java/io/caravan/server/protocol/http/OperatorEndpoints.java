package io.caravan.server.protocol.http;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.caravan.BackupReport;
import io.caravan.StoreLayout;
import io.caravan.server.backup.BackupInfo;
import io.caravan.server.backup.Backups;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterStatus;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSettings;
import io.caravan.server.document.space.Spaces;
import io.caravan.server.net.ClientInfo;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Endpoints for operators: the layout of the store on disk, checkpoints, clients, the cluster, the current settings,
 * spaces, and backups.
 */
public final class OperatorEndpoints {
    public static final String BACKUPS = "/v1/backups/";

    public static final String SPACES = "/v1/spaces/";

    private static final String INVALID_SPACE = "invalid_space";

    /** The maximum number of listed connections, separately for HTTP and for the other protocols. */
    private static final int MAX_CLIENTS = 1_000;

    private static final Duration LAYOUT_AGE = Duration.ofSeconds(2);

    private final Endpoints endpoints;
    private final Supplier<Stream<ClientInfo>> httpClients;
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
        int group =
                (int) Math.min(documents.shards(), exchange.request().query().number("shard", 0));
        if (group == documents.shards()) {
            throw Problem.badRequest(
                    "invalid_parameter", "shard must be below the number of the store's shards, " + documents.shards());
        }
        CachedResult<StoreLayout> shared =
                layouts.computeIfAbsent(group, any -> new CachedResult<>(LAYOUT_AGE, System::nanoTime));
        endpoints.respond(exchange, () -> {
            StoreLayout layout =
                    shared.get(() -> documents.store().shards().get(group).layout());
            return Response.json(
                    200,
                    Response.fields(
                            "shard", group,
                            "shards", documents.shards(),
                            "log", layout.log(),
                            "heap", layout.heap(),
                            "pinsComplete", layout.pinsComplete()));
        });
    }

    public void clients(HttpExchange exchange) {
        Supplier<Stream<ClientInfo>> others = endpoints.readiness().served().otherClients();
        endpoints.respond(exchange, () -> {
            Stream<ClientInfo> listed = Stream.concat(
                    others.get().limit(MAX_CLIENTS), httpClients.get().limit(MAX_CLIENTS));
            return Response.json(200, Map.of("clients", listed.toList()));
        });
    }

    /** Publishes a checkpoint, and then responds. The durability of writes does not depend on checkpoints. */
    public void checkpoint(HttpExchange exchange) {
        DocumentService documents = endpoints.readiness().documents();
        endpoints.respond(exchange, () -> {
            documents.store().checkpoint();
            return new Response(204).uncached();
        });
    }

    public void cluster(HttpExchange exchange) {
        Cluster cluster = endpoints.readiness().cluster();
        if (cluster == null) {
            throw new Problem(
                    404, "no_cluster", "this server is not part of a cluster: it was started without --cluster-file");
        }
        exchange.respond(Response.json(200, ClusterStatus.of(cluster)));
    }

    public void settings(HttpExchange exchange) {
        exchange.respond(Response.json(
                200, Map.of("settings", endpoints.readiness().served().settings())));
    }

    public void backups(HttpExchange exchange) {
        Backups backups = endpoints.readiness().served().backups();
        endpoints.respond(exchange, () -> {
            List<?> listed =
                    backups.list().stream().map(OperatorEndpoints::described).toList();
            return Response.json(200, Map.of("backups", listed));
        });
    }

    public void backup(HttpExchange exchange) {
        Backups backups = endpoints.readiness().served().backups();
        endpoints.respond(exchange, () -> Response.json(200, described(backups.find(name(exchange)))));
    }

    /**
     * Starts a backup, whose state later requests return. A backup may take longer than the minute for which proxies
     * wait for a response.
     */
    public void startBackup(HttpExchange exchange) {
        Backups backups = endpoints.readiness().served().backups();
        endpoints.respond(exchange, () -> {
            String name = name(exchange);
            // The outcome is logged, and clients can query it.
            backups.start(name, Outcome.of(made -> {}, problem -> {}));
            return Response.json(202, described(backups.find(name))).header("Location", "./" + name);
        });
    }

    private static String name(HttpExchange exchange) {
        return exchange.route().rest(exchange.request().path());
    }

    private static Map<String, Object> described(BackupInfo backup) {
        Map<String, Object> fields = Response.fields(
                "name", backup.name(),
                "state", backup.state().label(),
                "path", backup.path().toString(),
                "at", Endpoints.moment(backup.atMillis()),
                "bytes", backup.bytes());
        BackupReport report = backup.report();
        switch (backup.state()) {
            case RUNNING -> fields.put("totalBytes", backup.totalBytes());
            case FAILED -> fields.put("problem", backup.problem());
            case COMPLETE, ABANDONED -> {
                if (report != null) {
                    fields.put("files", report.files());
                    fields.put("lsn", report.lsn());
                }
            }
        }
        return fields;
    }

    public void spaces(HttpExchange exchange) {
        Spaces spaces = endpoints.readiness().documents().spaces();
        endpoints.respond(exchange, () -> {
            List<?> listed = spaces.all().stream().map(Described::of).toList();
            return Response.json(200, Map.of("spaces", listed));
        });
    }

    public void space(HttpExchange exchange) {
        Prefix prefix = prefix(exchange);
        Spaces spaces = endpoints.readiness().documents().spaces();
        endpoints.respond(exchange, () -> {
            Space space = spaces.get(prefix);
            if (space == null) {
                throw noSpace(prefix);
            }
            return Response.json(200, Described.of(space));
        });
    }

    /** Creates a space, or replaces all settings of an existing space. */
    public void setSpace(HttpExchange exchange) {
        Prefix prefix = prefix(exchange);
        SpaceSettings settings = settings(exchange.request().body());
        Spaces spaces = endpoints.readiness().documents().spaces();
        endpoints.respond(exchange, () -> Response.json(200, Described.of(spaces.set(prefix, before -> settings))));
    }

    public void removeSpace(HttpExchange exchange) {
        Prefix prefix = prefix(exchange);
        Spaces spaces = endpoints.readiness().documents().spaces();
        endpoints.respond(exchange, () -> {
            if (!spaces.remove(prefix)) {
                throw noSpace(prefix);
            }
            return new Response(204).uncached();
        });
    }

    private static Problem noSpace(Prefix prefix) {
        return new Problem(404, "no_space", "there is no space '" + prefix + "'");
    }

    private static Prefix prefix(HttpExchange exchange) {
        return Prefix.of(StreamName.bytes(name(exchange)));
    }

    /** Parses an object with a number or a word for each setting. */
    private SpaceSettings settings(byte[] body) {
        SpaceSettings settings = SpaceSettings.NONE;
        Map<?, ?> fields = endpoints.json().parse(body, Map.class, INVALID_SPACE);
        for (Map.Entry<?, ?> field : fields.entrySet()) {
            SpaceSetting setting = SpaceSetting.of((String) field.getKey());
            boolean word = setting.unit() == SpaceSetting.Unit.WORD;
            if (word && field.getValue() instanceof String text) {
                settings = settings.with(setting, setting.number(text));
            } else if (!word && (field.getValue() instanceof Integer || field.getValue() instanceof Long)) {
                settings = settings.with(setting, ((Number) field.getValue()).longValue());
            } else {
                throw Problem.badRequest(
                        INVALID_SPACE, setting.key() + " must be " + (word ? "a word" : "a whole number"));
            }
        }
        return settings;
    }

    /** The description of a space in a response. */
    private record Described(
            String prefix,
            String path,
            Map<String, Object> settings,
            @JsonUnwrapped Space.Status status) {
        static Described of(Space space) {
            byte[] prefix = space.prefix().toBytes();
            return new Described(
                    new String(prefix, StandardCharsets.UTF_8),
                    SPACES + StreamName.encode(prefix),
                    space.settings().shown(),
                    space.status());
        }
    }
}
