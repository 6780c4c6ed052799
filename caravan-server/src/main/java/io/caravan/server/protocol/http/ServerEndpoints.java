package io.caravan.server.protocol.http;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.caravan.BackupReport;
import io.caravan.StoreLayout;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.ArchiveStatus.LastError;
import io.caravan.server.backup.BackupInfo;
import io.caravan.server.backup.Backups;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterStatus;
import io.caravan.server.config.Version;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSettings;
import io.caravan.server.metrics.CachedResult;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.protocol.http.Routes.Route;
import io.caravan.server.security.Permission;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Endpoints about the server: whether it is alive and ready, its statistics, metrics, and OpenAPI description; and for
 * operators, the layout of the store on disk, checkpoints, clients, the cluster, the settings, spaces, and backups.
 */
final class ServerEndpoints {
    static final String BACKUPS = "/v1/backups/";
    static final String SPACES = "/v1/spaces/";
    private static final String OPEN_API = "openapi.json";
    private static final String INVALID_SPACE = "invalid_space";
    /** The maximum number of listed connections, separately for HTTP and for the other protocols. */
    private static final int MAX_CLIENTS = 1_000;

    private static final Duration LAYOUT_AGE = Duration.ofSeconds(2);

    private final Map<Integer, CachedResult<StoreLayout>> layouts = new ConcurrentHashMap<>();
    private final long startedNanos = System.nanoTime();
    private volatile byte[] openApi = {};

    /** Reads the OpenAPI description, and adds the error responses of each route, which the file omits. */
    void describe(List<Route> routes) {
        ObjectMapper json = new ObjectMapper();
        try (InputStream in = ServerEndpoints.class.getResourceAsStream(OPEN_API)) {
            JsonNode description = json.readTree(Objects.requireNonNull(in));
            for (Route route : routes) {
                String method = route.method().name().toLowerCase(Locale.ROOT);
                ObjectNode responses = (ObjectNode)
                        description.at("/paths/" + route.path().replace("/", "~1") + "/" + method + "/responses");
                for (int status : route.allStatuses()) {
                    if (!responses.has(Integer.toString(status))) {
                        String reason = HttpResponseStatus.valueOf(status).reasonPhrase();
                        String component = "#/components/responses/" + reason.replaceAll("[^A-Za-z]", "");
                        responses.putObject(Integer.toString(status)).put("$ref", component);
                    }
                }
            }
            openApi = json.writeValueAsBytes(description);
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read " + OPEN_API, problem);
        }
    }

    static Response alive(HttpExchange exchange) {
        return Response.json(200, Map.of("status", "alive"));
    }

    /** Reports whether the server is ready. If not, clients with permission {@code ADMIN} get the detailed reason. */
    static Response ready(HttpExchange exchange) {
        HttpProtocol http = exchange.protocol;
        Problem problem = http.problem(exchange.principal.may(Permission.ADMIN));
        if (problem != null) {
            return problem.response();
        }
        Cluster cluster = http.cluster;
        ArchiveStatus archive = http.archive();
        return Response.json(
                200,
                Response.present(
                        "status", "ready",
                        "cluster", cluster == null ? null : ClusterStatus.Summary.of(cluster),
                        "archive", archive == null ? null : brief(archive)));
    }

    /** Returns the archive's status without names and addresses, because clients without a token can read it. */
    private static Map<String, Object> brief(ArchiveStatus archive) {
        long success = archive.lastSuccessMillis();
        LastError last = archive.lastError();
        return Response.fields(
                "state", archive.state().label(),
                "lagSeconds", archive.lagSeconds(),
                "overdueSeconds", archive.overdueSeconds(),
                "backlog", archive.backlog(),
                "lastSuccess", success == 0 ? null : Response.rfc3339(success),
                "lastError",
                        last == null ? null : Map.of("kind", last.kind(), "at", Response.rfc3339(last.atMillis())));
    }

    Response stats(HttpExchange exchange) {
        HttpProtocol http = exchange.protocol;
        DocumentService documents = exchange.documents();
        return Response.json(
                200,
                Response.fields(
                        "documents", documents.documents(),
                        "tailedDocuments", documents.tailedDocuments(),
                        "httpConnections", http.clients().count(),
                        "respConnections", http.served().otherClients().get().count(),
                        "version", Version.current(),
                        "uptimeSeconds", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos),
                        "requests", http.metrics.requests(),
                        "store", documents.store().stats(),
                        "archive", http.archive()));
    }

    static Response metrics(HttpExchange exchange) {
        byte[] metrics = exchange.protocol.metrics.scrape().getBytes(StandardCharsets.UTF_8);
        return new Response(200).uncached().body(ServerMetrics.CONTENT_TYPE, metrics);
    }

    Response openApi(HttpExchange exchange) {
        return new Response(200).header("Cache-Control", "no-cache").body(Response.JSON, openApi);
    }

    /** Returns the layout of a shard: the log, the part of it that is not yet in the heap, and the heap's segments. */
    Response store(HttpExchange exchange) {
        DocumentService documents = exchange.documents();
        int group = (int) Math.min(documents.shards(), exchange.request.numberParameter("shard", 0));
        Problem.require(
                group < documents.shards(),
                "invalid_parameter",
                "shard must be below the number of the store's shards, " + documents.shards());
        StoreLayout layout = layouts.computeIfAbsent(group, any -> new CachedResult<>(LAYOUT_AGE, System::nanoTime))
                .get(() -> documents.store().shards().get(group).layout());
        return Response.json(
                200,
                Response.fields(
                        "shard", group,
                        "shards", documents.shards(),
                        "log", layout.log(),
                        "heap", layout.heap(),
                        "pinsComplete", layout.pinsComplete()));
    }

    static Response clients(HttpExchange exchange) {
        HttpProtocol http = exchange.protocol;
        Stream<ClientInfo> others = http.served().otherClients().get().limit(MAX_CLIENTS);
        List<ClientInfo> all =
                Stream.concat(others, http.clients().limit(MAX_CLIENTS)).toList();
        return Response.json(200, Map.of("clients", all));
    }

    /** Publishes a checkpoint, and then responds. The durability of writes does not depend on checkpoints. */
    static Response checkpoint(HttpExchange exchange) {
        exchange.documents().store().checkpoint();
        return new Response(204).uncached();
    }

    static Response cluster(HttpExchange exchange) {
        Cluster cluster = exchange.protocol.cluster;
        if (cluster == null) {
            throw new Problem(
                    404, "no_cluster", "this server is not part of a cluster: it was started without --cluster-file");
        }
        return Response.json(200, ClusterStatus.of(cluster));
    }

    static Response settings(HttpExchange exchange) {
        return Response.json(200, Map.of("settings", exchange.protocol.served().settings()));
    }

    static Response backups(HttpExchange exchange) {
        List<?> listed = exchange.protocol.served().backups().list().stream()
                .map(ServerEndpoints::described)
                .toList();
        return Response.json(200, Map.of("backups", listed));
    }

    static Response backup(HttpExchange exchange) {
        return Response.json(200, described(exchange.protocol.served().backups().find(name(exchange))));
    }

    /** Starts a backup, whose state later requests return, because proxies wait only a minute for a response. */
    static Response startBackup(HttpExchange exchange) {
        Backups backups = exchange.protocol.served().backups();
        String name = name(exchange);
        // The outcome is logged, and clients can query it.
        backups.start(name, Outcome.of(made -> {}, problem -> {}));
        return Response.json(202, described(backups.find(name))).header("Location", "./" + name);
    }

    private static String name(HttpExchange exchange) {
        return exchange.route.rest(exchange.request.path);
    }

    private static Map<String, Object> described(BackupInfo backup) {
        BackupReport report = backup.report();
        return Response.present(
                "name", backup.name(),
                "state", backup.state().label(),
                "path", backup.path().toString(),
                "at", Response.rfc3339(backup.atMillis()),
                "bytes", backup.bytes(),
                "totalBytes", backup.state() == BackupInfo.State.RUNNING ? backup.totalBytes() : null,
                "problem", backup.problem(),
                "files", report == null ? null : report.files(),
                "lsn", report == null ? null : report.lsn());
    }

    static Response spaces(HttpExchange exchange) {
        List<?> listed =
                exchange.documents().spaces().all().stream().map(Described::of).toList();
        return Response.json(200, Map.of("spaces", listed));
    }

    static Response space(HttpExchange exchange) {
        Prefix prefix = prefix(exchange);
        Space space = exchange.documents().spaces().get(prefix);
        if (space == null) {
            throw noSpace(prefix);
        }
        return Response.json(200, Described.of(space));
    }

    /** Creates a space, or replaces all settings of an existing space. */
    static Response setSpace(HttpExchange exchange) {
        SpaceSettings settings = spaceSettings(exchange);
        return Response.json(
                200, Described.of(exchange.documents().spaces().set(prefix(exchange), before -> settings)));
    }

    static Response removeSpace(HttpExchange exchange) {
        Prefix prefix = prefix(exchange);
        if (!exchange.documents().spaces().remove(prefix)) {
            throw noSpace(prefix);
        }
        return new Response(204).uncached();
    }

    private static Problem noSpace(Prefix prefix) {
        return new Problem(404, "no_space", "there is no space '" + prefix + "'");
    }

    private static Prefix prefix(HttpExchange exchange) {
        return Prefix.of(StreamName.bytes(name(exchange)));
    }

    private static SpaceSettings spaceSettings(HttpExchange exchange) {
        SpaceSettings settings = SpaceSettings.NONE;
        Map<?, ?> fields = exchange.protocol.json.parse(exchange.request.body, Map.class, INVALID_SPACE);
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
