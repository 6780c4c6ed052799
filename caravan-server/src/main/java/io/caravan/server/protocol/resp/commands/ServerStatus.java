package io.caravan.server.protocol.resp.commands;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreStats;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.ArchiveStatus.LastError;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.config.LogLevel;
import io.caravan.server.config.Version;
import io.caravan.server.document.Backups;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.Space;
import io.caravan.server.metrics.DiskSpace;
import io.caravan.server.net.Network;
import io.caravan.server.net.Transport;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The statistics and settings that {@code INFO} and {@code CONFIG GET} return. */
public final class ServerStatus {
    /** The version of Redis with compatible replies, for clients that check the version. */
    private static final String REDIS_VERSION = "7.0.0";

    private final long startedNanos = System.nanoTime();
    private final DocumentService documents;
    private final Network network;
    private final Durability durability;
    private final int maxValueBytes;
    private final @Nullable Archiver archiver;
    private final DiskSpace disk;
    private final Backups backups;
    private final @Nullable Cluster cluster;
    private final int httpPort;

    /**
     * Creates the status from these components.
     *
     * @param maxValueBytes maximum length of a value
     * @param archiver null if the server has no archive
     * @param cluster null if the server is not part of a cluster
     * @param httpPort 0 if the server does not listen for HTTP
     */
    public ServerStatus(
            DocumentService documents,
            Network network,
            Durability durability,
            int maxValueBytes,
            @Nullable Archiver archiver,
            DiskSpace disk,
            Backups backups,
            @Nullable Cluster cluster,
            int httpPort) {
        this.documents = documents;
        this.network = network;
        this.durability = durability;
        this.maxValueBytes = maxValueBytes;
        this.archiver = archiver;
        this.disk = disk;
        this.backups = backups;
        this.cluster = cluster;
        this.httpPort = httpPort;
    }

    /** Returns the cluster of the server, or null without a cluster. */
    public @Nullable Cluster cluster() {
        return cluster;
    }

    /** Returns the mode of the server, as named in Redis. */
    public String mode() {
        return cluster == null ? "standalone" : "cluster";
    }

    /** Returns the role of the server, as named in Redis. */
    public String role() {
        return follows() ? "slave" : "master";
    }

    private boolean follows() {
        return cluster != null && !cluster.leads();
    }

    /** Returns settings by their Redis names. */
    public Map<String, String> redisSettings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("save", "");
        settings.put("appendonly", durability == Durability.MEMORY ? "no" : "yes");
        settings.put("appendfsync", syncs() ? "always" : "no");
        settings.put("databases", "1");
        settings.put("loglevel", LogLevel.current().name().toLowerCase(Locale.ROOT));
        settings.put("maxmemory", "0");
        settings.put("maxmemory-policy", "noeviction");
        settings.put("notify-keyspace-events", "");
        Duration idle = network.config().limits().idleTimeout();
        settings.put("timeout", String.valueOf(idle == null ? 0 : idle.toSeconds()));
        settings.put("tcp-keepalive", String.valueOf(Transport.KEEPALIVE.toSeconds()));
        return settings;
    }

    /** Whether an acknowledged write is on disk. */
    public boolean syncs() {
        return durability == Durability.SYNC;
    }

    /**
     * Returns sections of named statistics, as in {@code INFO} of Redis. Only administrators see statistics about other
     * users' documents and about the machine.
     */
    public Map<String, Map<String, Object>> sections(@Nullable Principal reader) {
        boolean all = reader != null && reader.may(Permission.ADMIN);
        if (cluster != null && follows()) {
            return followerSections(cluster, all);
        }
        StoreStats stats = documents.stats();
        Map<String, Map<String, Object>> sections = new LinkedHashMap<>();
        sections.put("Server", server(all));
        sections.put(
                "Clients", ordered("connected_clients", network.connections().size()));
        if (all) {
            sections.put("Stats", writes(stats));
        }
        sections.put("Persistence", persistence(all ? stats : null));
        sections.put("Archive", archive(all));
        sections.put(
                "Replication",
                ordered("role", role(), "connected_slaves", cluster == null ? 0 : ClusterStatus.reachable(cluster)));
        sections.put("Cluster", ClusterStatus.fields(cluster));
        if (all) {
            sections.put("Spaces", spaces(documents.spaces().all()));
            sections.put("Keyspace", keyspace(stats));
        }
        return sections;
    }

    /** Returns a follower's statistics. Only the leader reports on the contents of the store. */
    private Map<String, Map<String, Object>> followerSections(Cluster others, boolean all) {
        Map<String, Map<String, Object>> sections = new LinkedHashMap<>();
        sections.put("Server", server(all));
        sections.put(
                "Clients", ordered("connected_clients", network.connections().size()));
        Map<String, Object> replication = ordered("role", role());
        others.leader()
                .ifPresent(leader -> replication.putAll(ordered(
                        "master_host", leader.resp().host(),
                        "master_port", leader.resp().port())));
        replication.put("master_link_status", others.leader().isPresent() ? "up" : "down");
        sections.put("Replication", replication);
        sections.put("Cluster", ClusterStatus.fields(others));
        return sections;
    }

    private Map<String, Object> server(boolean all) {
        Map<String, Object> fields = ordered(
                "redis_version",
                REDIS_VERSION,
                "run_id",
                documents.run(),
                "redis_mode",
                mode(),
                "caravan_version",
                Version.current(),
                "uptime_in_seconds",
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos),
                "max_value_bytes",
                maxValueBytes,
                "http_port",
                httpPort);
        if (all) {
            fields.putAll(ordered(
                    "multiplexing_api", network.config().transport().label(),
                    "event_loops", network.config().loops(),
                    "tls", network.config().tls() == null ? "no" : "yes",
                    "java_version", Runtime.version(),
                    "process_id", ProcessHandle.current().pid()));
        }
        return fields;
    }

    private Map<String, Object> writes(StoreStats stats) {
        Runtime memory = Runtime.getRuntime();
        return ordered(
                "appends", stats.appends(),
                "appended_bytes", stats.appendedBytes(),
                "reads", documents.reads(),
                "trims", stats.trims(),
                "deletes", stats.deletes(),
                "internal_writes", stats.internalWrites(),
                "rejections", stats.rejections(),
                "failures", stats.failures(),
                "memory_used_bytes", memory.totalMemory() - memory.freeMemory(),
                "memory_max_bytes", memory.maxMemory(),
                "pinned_readers", stats.pinnedReaders(),
                "in_flight_bytes", network.inFlightBytes(),
                "maxclients", network.config().limits().maxConnections());
    }

    private Map<String, Object> persistence(@Nullable StoreStats stats) {
        Map<String, Object> fields =
                ordered("loading", 0, "durability", durability.name().toLowerCase(Locale.ROOT));
        fields.put("shards", documents.shards());
        fields.put("store_incomplete", documents.incomplete() ? 1 : 0);
        if (stats != null) {
            CaravanException trouble = documents.trouble();
            fields.putAll(ordered(
                    "store_state",
                    trouble == null ? "ok" : trouble instanceof OutOfSpaceException ? "full" : "failed",
                    "store_problem",
                    trouble == null ? "" : oneLine(String.valueOf(trouble.getMessage())),
                    "disk_free_bytes",
                    disk.freeBytes(),
                    "disk_total_bytes",
                    disk.totalBytes()));
            fields.putAll(figures(stats));
            fields.putAll(backup());
        }
        return fields;
    }

    private Map<String, Object> backup() {
        Backups.Underway underway = backups.underway();
        return ordered(
                "backup_in_progress", underway == null ? 0 : 1,
                "backup_done_bytes", underway == null ? 0 : underway.doneBytes(),
                "backup_total_bytes", underway == null ? 0 : underway.totalBytes());
    }

    private static Map<String, Object> figures(StoreStats stats) {
        return ordered(
                "store", stats.name(),
                "log_fsyncs", stats.fsyncs(),
                "log_bytes", stats.logBytes(),
                "log_bytes_since_checkpoint", stats.logBytesSinceCheckpoint(),
                "records_per_flush_mean",
                        String.format(Locale.ROOT, "%.1f", stats.flushRecords().mean()),
                "fsync_p50_us", micros(stats.fsyncNanos().p50()),
                "fsync_p99_us", micros(stats.fsyncNanos().p99()),
                "ack_p50_us", micros(stats.ackNanos().p50()),
                "ack_p99_us", micros(stats.ackNanos().p99()),
                "lock_p99_us", micros(stats.lockNanos().p99()),
                "lock_max_us", micros(stats.lockNanos().max()),
                "checkpoints", stats.checkpoints(),
                "checkpoint_last_ms", TimeUnit.NANOSECONDS.toMillis(stats.lastCheckpointNanos()),
                "heap_total_bytes", stats.heap().totalBytes(),
                "heap_used_bytes", stats.heap().usedBytes(),
                "heap_free_bytes", stats.heap().freeBytes(),
                "heap_largest_hole_bytes", stats.heap().largestHoleBytes());
    }

    private Map<String, Object> archive(boolean all) {
        return archiver == null ? ordered("archive_state", "none") : archive(archiver.status(), all);
    }

    private static Map<String, Object> archive(ArchiveStatus status, boolean all) {
        LastError last = status.lastError();
        Map<String, Object> fields = ordered(
                "archive_state", status.state().label(),
                "archive_backlog", status.backlog(),
                "archive_lag_seconds", status.lagSeconds(),
                "archive_overdue_seconds", status.overdueSeconds(),
                "archive_last_success_ms", status.lastSuccessMillis(),
                "archive_last_error_ms", last == null ? 0 : last.atMillis(),
                "archive_last_error_kind", last == null ? "" : last.kind());
        if (all) {
            fields.putAll(ordered(
                    "archive_location", status.location(),
                    "archive_epoch", status.epoch(),
                    "archive_documents", status.documents(),
                    "archive_tombstones", status.tombstones(),
                    "archive_bytes", status.bytes(),
                    "archive_failures",
                            status.failures().values().stream()
                                    .mapToLong(Long::longValue)
                                    .sum(),
                    "archive_last_error", last == null ? "" : oneLine(last.message())));
        }
        return fields;
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s+", " ");
    }

    private Map<String, Object> keyspace(StoreStats stats) {
        long count = documents.documents();
        Map<String, Object> fields = ordered("documents", count, "values", stats.values(), "lists", stats.lists());
        if (count > 0) {
            fields.put("db0", "keys=" + count + ",expires=0,avg_ttl=0");
        }
        return fields;
    }

    private Map<String, Object> spaces(List<Space> all) {
        return ordered(
                "spaces", all.size(),
                "spaces_less_durable",
                        all.stream()
                                .filter(space ->
                                        space.promise() != documents.spaces().server())
                                .count(),
                "spaces_rejected_sizes",
                        all.stream().mapToLong(Space::sizeRefusals).sum(),
                "spaces_rejected_quotas",
                        all.stream().mapToLong(Space::quotaRefusals).sum(),
                "spaces_rejected_rates",
                        all.stream().mapToLong(Space::rateRefusals).sum(),
                "spaces_retention_trimmed_values",
                        all.stream().mapToLong(Space::retentionTrimmedValues).sum());
    }

    private static long micros(long nanos) {
        return TimeUnit.NANOSECONDS.toMicros(nanos);
    }

    static Map<String, Object> ordered(Object... namesAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            map.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return map;
    }
}
