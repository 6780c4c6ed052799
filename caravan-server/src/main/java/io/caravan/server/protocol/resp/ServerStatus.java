package io.caravan.server.protocol.resp;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreStats;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.ArchiveStatus.LastError;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.backup.BackupInfo;
import io.caravan.server.backup.Backups;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.ClusterStatus;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.config.LogLevel;
import io.caravan.server.config.Version;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.Spaces;
import io.caravan.server.metrics.DiskSpace;
import io.caravan.server.metrics.Statistic;
import io.caravan.server.metrics.Statistics;
import io.caravan.server.net.Network;
import io.caravan.server.net.Transport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The statistics and settings that {@code INFO} and {@code CONFIG GET} return.
 *
 * @param archiver null if the server has no archive
 * @param cluster null if the server is not part of a cluster
 * @param httpPort 0 if the server does not listen for HTTP
 * @param startedNanos the time at which the server started, as {@link System#nanoTime} returns it
 */
public record ServerStatus(
        DocumentService documents,
        Network network,
        Durability durability,
        int maxValueBytes,
        @Nullable Archiver archiver,
        DiskSpace disk,
        Backups backups,
        @Nullable Cluster cluster,
        int httpPort,
        long startedNanos) {
    /** The version of Redis with which the replies are compatible, for clients that check the version. */
    private static final String REDIS_VERSION = "7.0.0";

    String mode() {
        return cluster == null ? "standalone" : "cluster";
    }

    String role() {
        return follows() ? "slave" : "master";
    }

    private boolean follows() {
        return cluster != null && !cluster.leads();
    }

    Map<String, String> redisSettings() {
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

    /** Whether every acknowledged write is on disk. */
    boolean syncs() {
        return durability == Durability.SYNC;
    }

    /**
     * Returns sections of named statistics, as {@code INFO} does in Redis. Only administrators see statistics about
     * other users' documents and about the machine.
     */
    Map<String, Map<String, Object>> sections(boolean all) {
        Map<String, Map<String, Object>> sections = new LinkedHashMap<>();
        sections.put("Server", server(all));
        sections.put(
                "Clients", ordered("connected_clients", network.connections().size()));
        if (cluster != null && follows()) {
            // Only the leader reports on the contents of the store.
            sections.put("Replication", followed(cluster));
            sections.put("Cluster", cluster(cluster));
            return sections;
        }
        StoreStats stats = documents.store().stats();
        if (all) {
            sections.put("Stats", statistics(stats));
        }
        sections.put("Persistence", persistence(all ? stats : null));
        sections.put("Archive", archive(all));
        sections.put(
                "Replication", ordered("role", role(), "connected_slaves", cluster == null ? 0 : cluster.reachable()));
        sections.put("Cluster", cluster == null ? ordered("cluster_enabled", 0) : cluster(cluster));
        if (all) {
            sections.put("Spaces", spaces());
            sections.put("Keyspace", keyspace(stats));
        }
        return sections;
    }

    private Map<String, Object> followed(Cluster others) {
        Map<String, Object> replication = ordered("role", role());
        others.leader()
                .ifPresent(leader -> replication.putAll(ordered(
                        "master_host", leader.resp().host(),
                        "master_port", leader.resp().port())));
        replication.put("master_link_status", others.leader().isPresent() ? "up" : "down");
        return replication;
    }

    private Map<String, Object> server(boolean all) {
        Map<String, Object> fields = ordered(
                "redis_version", REDIS_VERSION,
                "run_id", documents.run(),
                "redis_mode", mode(),
                "caravan_version", Version.current(),
                "uptime_in_seconds", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos),
                "max_value_bytes", maxValueBytes,
                "http_port", httpPort);
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

    private Map<String, Object> statistics(StoreStats stats) {
        Map<String, Object> fields = Statistic.fields(Statistics.STORE, stats, "Stats", true);
        fields.putAll(Statistic.fields(Statistics.DOCUMENTS, documents, "Stats", true));
        fields.putAll(Statistic.fields(Statistics.NETWORK, network, "Stats", true));
        Runtime memory = Runtime.getRuntime();
        fields.put("memory_used_bytes", memory.totalMemory() - memory.freeMemory());
        fields.put("memory_max_bytes", memory.maxMemory());
        return fields;
    }

    private Map<String, Object> persistence(@Nullable StoreStats stats) {
        Map<String, Object> fields =
                ordered("loading", 0, "durability", durability.name().toLowerCase(Locale.ROOT));
        fields.putAll(Statistic.fields(Statistics.DOCUMENTS, documents, "Persistence", stats != null));
        fields.put("store_incomplete", documents.incomplete() ? 1 : 0);
        if (stats != null) {
            CaravanException problem = documents.problem();
            fields.putAll(ordered(
                    "store_state", problem == null ? "ok" : problem instanceof OutOfSpaceException ? "full" : "failed",
                    "store_problem", problem == null ? "" : oneLine(String.valueOf(problem.getMessage())),
                    "store", stats.name()));
            fields.putAll(Statistic.fields(Statistics.DISK, disk, "Persistence", true));
            fields.putAll(Statistic.fields(Statistics.STORE, stats, "Persistence", true));
            fields.putAll(backup());
        }
        return fields;
    }

    private Map<String, Object> backup() {
        BackupInfo running = backups.running();
        return ordered(
                "backup_in_progress", running == null ? 0 : 1,
                "backup_done_bytes", running == null ? 0 : running.bytes(),
                "backup_total_bytes", running == null ? 0 : running.totalBytes());
    }

    private Map<String, Object> archive(boolean all) {
        if (archiver == null) {
            return ordered("archive_state", "none");
        }
        ArchiveStatus status = archiver.status();
        LastError last = status.lastError();
        Map<String, Object> fields = ordered("archive_state", status.state().label());
        fields.putAll(Statistic.fields(Statistics.ARCHIVE, status, "Archive", all));
        fields.put("archive_last_error_ms", last == null ? 0 : last.atMillis());
        fields.put("archive_last_error_kind", last == null ? "" : last.kind());
        if (all) {
            fields.put("archive_location", status.location());
            fields.put("archive_last_error", last == null ? "" : oneLine(last.message()));
        }
        return fields;
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s+", " ");
    }

    private Map<String, Object> keyspace(StoreStats stats) {
        Map<String, Object> fields = Statistic.fields(Statistics.DOCUMENTS, documents, "Keyspace", true);
        fields.putAll(Statistic.fields(Statistics.STORE, stats, "Keyspace", true));
        long count = documents.documents();
        if (count > 0) {
            fields.put("db0", "keys=" + count + ",expires=0,avg_ttl=0");
        }
        return fields;
    }

    private Map<String, Object> spaces() {
        Spaces spaces = documents.spaces();
        Map<String, Object> fields = ordered(
                "spaces",
                spaces.all().size(),
                "spaces_less_durable",
                spaces.all().stream()
                        .filter(space -> space.durability() != spaces.server())
                        .count());
        fields.putAll(Statistic.fields(Statistics.SPACES, spaces, "Spaces", true));
        return fields;
    }

    private static Map<String, Object> cluster(Cluster cluster) {
        ClusterStatus status = ClusterStatus.of(cluster);
        Map<String, Object> fields = ordered(
                "cluster_enabled", 1,
                "cluster_id", status.id(),
                "cluster_slots", status.slots(),
                "cluster_node", status.summary().node(),
                "cluster_role", status.summary().role(),
                "cluster_change", status.change(),
                "cluster_drained", status.drained() ? 1 : 0,
                "cluster_leader", Objects.requireNonNullElse(status.summary().leader(), ""),
                "cluster_since_seconds", cluster.group().unchangedFor().toSeconds());
        fields.putAll(Statistic.fields(Statistics.CLUSTER, cluster, "Cluster", true));
        for (ClusterStatus.Node node : status.nodes()) {
            fields.put(
                    "cluster_node_" + node.id(),
                    "role=" + node.role() + ",resp=" + node.resp() + ",http=" + node.http()
                            + known(",committed_entries=", node.committedEntries())
                            + known(",last_contact_ms=", node.lastContactMillis())
                            + known(",snapshot_bytes=", node.snapshotBytes())
                            + known(",snapshot_total_bytes=", node.snapshotTotalBytes()));
        }
        for (GroupView group : cluster.groups()) {
            fields.put("cluster_slots_" + group.slots(), group(group));
        }
        return fields;
    }

    private static String known(String name, @Nullable Long value) {
        return value == null ? "" : name + value;
    }

    private static String group(GroupView group) {
        return "leader="
                + group.leader()
                        .map(leader -> leader.id() + ",resp=" + leader.resp() + ",http=" + leader.http())
                        .orElse("")
                + ",since_seconds=" + group.unchangedFor().toSeconds()
                + ",nodes=" + group.nodes().stream().map(ClusterNode::id).collect(Collectors.joining("+"));
    }

    private static Map<String, Object> ordered(Object... namesAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            map.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return map;
    }
}
