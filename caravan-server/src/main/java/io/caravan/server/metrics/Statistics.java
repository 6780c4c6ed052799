package io.caravan.server.metrics;

import static io.caravan.server.metrics.Statistic.counter;
import static io.caravan.server.metrics.Statistic.gauge;
import static io.caravan.server.metrics.Statistic.info;
import static io.caravan.server.metrics.Statistic.seconds;
import static io.caravan.server.metrics.Statistic.several;

import io.caravan.StoreStats;
import io.caravan.cluster.GroupMember.Progress;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.archive.restore.Drills;
import io.caravan.server.archive.restore.Drills.DrillReport;
import io.caravan.server.archive.restore.Hydration;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.Spaces;
import io.caravan.server.metrics.Statistic.Type;
import io.caravan.server.net.Network;
import io.caravan.server.security.Authenticator;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All statistics that {@code GET /metrics} reports, and the numeric fields of {@code INFO}. The tables in
 * {@code docs/reference/metrics.md} are generated from these lists.
 */
public final class Statistics {
    private static final String STATS = "Stats";
    private static final String PERSISTENCE = "Persistence";
    private static final String ARCHIVED = "Archive";
    private static final String KEYSPACE = "Keyspace";

    /** Statistics of the server's documents. */
    public static final List<Statistic<DocumentService>> DOCUMENTS = List.of(
            gauge("caravan.documents", "documents", DocumentService::documents).field(KEYSPACE, "documents"),
            counter("caravan.reads", "reads; a read that returns several values counts once", DocumentService::reads)
                    .field(STATS, "reads"),
            gauge(
                    "caravan.store.writable",
                    "0 or 1",
                    "1 while the store accepts writes, 0 if it has failed or has no space",
                    each -> each.problem() == null ? 1 : 0),
            gauge("caravan.store.shards", "shards of the store, each with a log", DocumentService::shards)
                    .openField(PERSISTENCE, "shards"));

    private static final List<Statistic<StoreStats>> WRITES = List.of(
            gauge("caravan.store.lists", "lists, including lists that the server uses internally", StoreStats::lists)
                    .field(KEYSPACE, "lists"),
            gauge("caravan.store.values", "values of all documents", StoreStats::values)
                    .field(KEYSPACE, "values"),
            counter("caravan.store.appends", "values", "values appended to documents", StoreStats::appends)
                    .field(STATS, "appends"),
            counter(
                            "caravan.store.appended.bytes",
                            "total length of the values appended to documents",
                            StoreStats::appendedBytes)
                    .field(STATS, "appended_bytes"),
            counter("caravan.store.trims", "trims", StoreStats::trims).field(STATS, "trims"),
            counter("caravan.store.deletes", "lists", "lists deleted", StoreStats::deletes)
                    .field(STATS, "deletes"),
            counter(
                            "caravan.store.internal.writes",
                            "appends, trims, and deletes in lists that the server uses internally, such as the catalog"
                                    + " and the state of the archive; the counters above exclude them",
                            StoreStats::internalWrites)
                    .field(STATS, "internal_writes"),
            counter(
                            "caravan.store.rejections",
                            "writes",
                            "writes that the store rejected, except those that are repeated once there is space",
                            StoreStats::rejections)
                    .field(STATS, "rejections"),
            counter(
                            "caravan.store.failures",
                            "failed checkpoints, failed attempts to make or remove a log segment, and damaged values that a"
                                    + " checkpoint found in the log, plus one if the store has failed",
                            StoreStats::failures)
                    .field(STATS, "failures"));

    private static final List<Statistic<StoreStats>> LOG = List.of(
            counter("caravan.store.fsyncs", "fsyncs of the log", StoreStats::fsyncs)
                    .field(PERSISTENCE, "log_fsyncs"),
            counter("caravan.store.log.bytes", "bytes written to the log", StoreStats::logBytes)
                    .field(PERSISTENCE, "log_bytes"),
            Statistic.<StoreStats>gauge(
                            "caravan.store.flush.records.mean",
                            "records",
                            "mean number of records per flush, since the start",
                            stats -> stats.flushRecords().mean())
                    .field(
                            PERSISTENCE,
                            "records_per_flush_mean",
                            mean -> String.format(Locale.ROOT, "%.1f", mean.doubleValue())),
            micros(
                    "fsync.p50",
                    "duration of one write and fsync of the log, median since the start",
                    stats -> stats.fsyncNanos().p50()),
            micros(
                    "fsync.p99",
                    "duration of one write and fsync of the log, 99th percentile since the start",
                    stats -> stats.fsyncNanos().p99()),
            micros(
                    "ack.p50",
                    "time from the first write of a flush to its acknowledgment, median since the start",
                    stats -> stats.ackNanos().p50()),
            micros(
                    "ack.p99",
                    "time from the first write of a flush to its acknowledgment, 99th percentile since the start",
                    stats -> stats.ackNanos().p99()),
            micros(
                    "lock.p99",
                    "time for which the store's lock was held, 99th percentile since the start",
                    stats -> stats.lockNanos().p99()),
            micros(
                    "lock.max",
                    "longest time for which the store's lock was held since the start",
                    stats -> stats.lockNanos().max()),
            counter("caravan.store.checkpoints", "checkpoints published", StoreStats::checkpoints)
                    .field(PERSISTENCE, "checkpoints"),
            seconds(
                            "caravan.store.checkpoint.last.seconds",
                            "duration of the last checkpoint",
                            StoreStats::lastCheckpointNanos)
                    .field(
                            PERSISTENCE,
                            "checkpoint_last_ms",
                            nanos -> TimeUnit.NANOSECONDS.toMillis(nanos.longValue())),
            gauge(
                            "caravan.store.log.replay.bytes",
                            "approximate length of the log that a recovery would replay",
                            StoreStats::logBytesSinceCheckpoint)
                    .field(PERSISTENCE, "log_bytes_since_checkpoint"));

    private static final List<Statistic<StoreStats>> HEAP = List.of(
            Statistic.<StoreStats>gauge(
                            "caravan.store.heap.total.bytes",
                            "total size of the heap's files, which is the maximum disk space that they take",
                            stats -> stats.heap().totalBytes())
                    .field(PERSISTENCE, "heap_total_bytes"),
            Statistic.<StoreStats>gauge(
                            "caravan.store.heap.used.bytes",
                            "total size of live entries, in the heap or still in the log; it can therefore exceed the"
                                    + " size of the heap's files",
                            stats -> stats.heap().usedBytes())
                    .field(PERSISTENCE, "heap_used_bytes"),
            Statistic.<StoreStats>gauge(
                            "caravan.store.heap.free.bytes",
                            "free space in the heap's files",
                            stats -> stats.heap().freeBytes())
                    .field(PERSISTENCE, "heap_free_bytes"),
            info(PERSISTENCE, "heap_largest_hole_bytes", stats -> stats.heap().largestHoleBytes()),
            gauge("caravan.store.pinned.readers", "reads", "reads in progress", StoreStats::pinnedReaders)
                    .field(STATS, "pinned_readers"));

    /** Statistics of the store. */
    public static final List<Statistic<StoreStats>> STORE =
            Stream.of(WRITES, LOG, HEAP).flatMap(List::stream).toList();

    /** Statistics of the file system that contains the store. */
    public static final List<Statistic<DiskSpace>> DISK = List.of(
            gauge("caravan.disk.free.bytes", "free space of the store's file system", DiskSpace::freeBytes)
                    .field(PERSISTENCE, "disk_free_bytes"),
            gauge("caravan.disk.total.bytes", "size of the store's file system", DiskSpace::totalBytes)
                    .field(PERSISTENCE, "disk_total_bytes"));

    /** The durations of requests, which {@link ServerMetrics} records itself. */
    static final Statistic<Void> REQUESTS = several(
            Type.HISTOGRAM,
            "caravan.requests.seconds",
            "seconds",
            "durations of requests, by `protocol`, `operation`, and `outcome`",
            "outcome",
            none -> Map.of());

    private static final Statistic<Void> LONGEST_REQUEST = several(
            Type.GAUGE,
            "caravan.requests.seconds.max",
            "seconds",
            "duration of the longest recent request, with the same labels",
            "outcome",
            none -> Map.of());

    static final List<Statistic<Map<String, Supplier<Number>>>> CONNECTIONS = List.of(several(
            Type.GAUGE,
            "caravan.connections",
            "connections",
            "open connections, by `protocol`",
            "protocol",
            open -> open.entrySet().stream()
                    .collect(Collectors.toMap(
                            Map.Entry::getKey, each -> each.getValue().get()))));

    /** Statistics of client connections and their memory. */
    public static final List<Statistic<Network>> NETWORK = List.of(
            several(
                    Type.COUNTER,
                    "caravan.connections.rejected",
                    "connections",
                    "connections rejected, by the `limit` that was reached: `total` or `address`",
                    "limit",
                    network -> Map.of("total", network.rejectedConnections(), "address", network.rejectedByAddress())),
            gauge(
                            "caravan.requests.in.flight.bytes",
                            "requests that the server has read and not yet replied to",
                            Network::inFlightBytes)
                    .field(STATS, "in_flight_bytes"),
            counter(
                    "caravan.requests.closed.connections",
                    "connections closed because they made no progress while all requests together were at their limit",
                    Network::closedForRequests),
            gauge("caravan.replies.pending.bytes", "replies that clients have not received", Network::replyBytes),
            counter(
                    "caravan.replies.closed.connections",
                    "connections closed because their clients read nothing while all replies together were at their"
                            + " limit",
                    Network::closedForReplies),
            gauge(
                    "caravan.waits.bytes",
                    "memory for subscriptions, names in `BLPOP`, and streams in `/v1/live`",
                    Network::waitBytes),
            info(STATS, "maxclients", network -> network.config().limits().maxConnections()));

    static final List<Statistic<Authenticator>> AUTHENTICATION = List.of(several(
            Type.COUNTER,
            "caravan.auth.failures",
            "secrets",
            "secrets rejected, by `reason`: `wrong`, or `limited` if the address had presented too many wrong secrets",
            "reason",
            logins -> Map.of("wrong", logins.failures(), "limited", logins.rejections())));

    public static final Statistic<Supplier<Number>> BLOCKED_POPS =
            gauge("caravan.blocked.pops", "names", "names that clients wait for with `BLPOP`", Supplier::get);
    public static final Statistic<Supplier<Number>> SUBSCRIPTIONS = gauge(
            "caravan.subscriptions", "channels", "channels and patterns that clients subscribe to", Supplier::get);
    public static final Statistic<Supplier<Number>> SUBSCRIBERS_CLOSED = counter(
            "caravan.subscribers.closed",
            "connections",
            "connections closed because their clients read messages too slowly",
            Supplier::get);

    /** Statistics of the archive. */
    public static final List<Statistic<ArchiveStatus>> ARCHIVE = List.of(
            several(
                    Type.GAUGE,
                    "caravan.archive.state",
                    "0 or 1",
                    "1 for the current `state`: `claiming`, `owner`, `fenced`, `rejected`, or `stopped`",
                    "state",
                    status -> Arrays.stream(ArchiveState.values())
                            .collect(Collectors.toMap(ArchiveState::label, each -> each == status.state() ? 1 : 0))),
            gauge(
                            "caravan.archive.backlog",
                            "changes",
                            "changed documents and deletions due for archiving, as found by the last scan, without"
                                    + " those that may still wait because of the settings of their space",
                            ArchiveStatus::backlog)
                    .openField(ARCHIVED, "archive_backlog"),
            gauge(
                            "caravan.archive.lag.seconds",
                            "upper bound on the age of the oldest change in the backlog; 0 if there is none, and normally at"
                                    + " most `archive-after`",
                            ArchiveStatus::lagSeconds)
                    .openField(ARCHIVED, "archive_lag_seconds"),
            gauge(
                            "caravan.archive.overdue.seconds",
                            "upper bound on the time by which a change exceeds the `archive-after` of the server or of"
                                    + " its space; 0 if no change does",
                            ArchiveStatus::overdueSeconds)
                    .openField(ARCHIVED, "archive_overdue_seconds"),
            gauge(
                            "caravan.archive.last.success.timestamp.seconds",
                            "seconds since 1970",
                            "when something was last archived, 0 if nothing has been archived since the start",
                            ArchiveStatus::lastSuccessMillis)
                    .scale(1e-3)
                    .openField(ARCHIVED, "archive_last_success_ms"),
            gauge(
                    "caravan.archive.backoff.seconds",
                    "time until the next attempt after failures",
                    ArchiveStatus::backOffSeconds),
            counter("caravan.archive.documents", "snapshots", "snapshots archived", ArchiveStatus::documents)
                    .field(ARCHIVED, "archive_documents"),
            counter("caravan.archive.tombstones", "deletions", "deletions archived", ArchiveStatus::tombstones)
                    .field(ARCHIVED, "archive_tombstones"),
            counter("caravan.archive.written.bytes", "bytes written to the archive", ArchiveStatus::bytes)
                    .field(ARCHIVED, "archive_bytes"),
            Statistic.<ArchiveStatus>several(
                            Type.COUNTER,
                            "caravan.archive.failures",
                            "attempts",
                            "failed attempts to archive or to prune, by `kind`",
                            "kind",
                            status -> new TreeMap<>(status.failures()))
                    .field(ARCHIVED, "archive_failures"),
            info(ARCHIVED, "archive_epoch", ArchiveStatus::epoch));

    static final List<Statistic<Hydration>> HYDRATION = List.of(
            counter("caravan.hydrate.documents", "documents fetched from the archive", Hydration::hydrated),
            counter("caravan.hydrate.failures", "fetches", "fetches that failed", Hydration::failures),
            gauge(
                    "caravan.hydrate.waiting",
                    "documents",
                    "documents that are being fetched or are waiting to be fetched",
                    Hydration::fetching));

    static final List<Statistic<Drills>> DRILLS = List.of(
            counter(
                    "caravan.drill.failures",
                    "documents that drills could not restore as they were, and drills that failed",
                    Drills::failures),
            gauge(
                    "caravan.drill.last.timestamp.seconds",
                    "seconds since 1970",
                    "when the last drill ended, 0 if there was none since the start",
                    last(report -> report.finishedMillis() / 1e3)),
            gauge(
                    "caravan.drill.last.documents",
                    "documents that the last drill restored",
                    last(DrillReport::documents)),
            gauge(
                    "caravan.drill.last.failures",
                    "failures of the last drill",
                    last(report -> report.failures().size())));

    /** Statistics of the contents and the activity of each space, by its prefix. At most a thousand spaces exist. */
    public static final List<Statistic<Spaces>> SPACES = List.of(
            space("documents", "documents in the space", Space::documents),
            space("bytes", "bytes of the values in the space", Space::bytes),
            space(
                    "quota.documents",
                    "the quota of documents, 0 for none",
                    space -> space.settings().get(SpaceSetting.QUOTA_DOCUMENTS)),
            space(
                    "quota.bytes",
                    "the quota of bytes, 0 for none",
                    space -> space.settings().get(SpaceSetting.QUOTA_BYTES)),
            space(
                    "durability",
                    "level",
                    "durability of an acknowledged write: 1 `memory`, 2 `process`, 3 `sync`, 4 `replicated`",
                    space -> 1 + space.durability().ordinal()),
            space(
                    "writes",
                    "appends and creations since the start",
                    space -> space.status().writes()),
            space(
                    "written.bytes",
                    "bytes appended since the start",
                    space -> space.status().writtenBytes()),
            space(
                            "retention.trimmed.values",
                            "values trimmed by the retention of the space since the start",
                            space -> space.status().retentionTrimmedValues())
                    .field("Spaces", "spaces_retention_trimmed_values"),
            space(
                            "rejected.sizes",
                            "writes",
                            "writes rejected because of a size since the start",
                            space -> space.status().rejectedSizes())
                    .field("Spaces", "spaces_rejected_sizes"),
            space(
                            "rejected.quotas",
                            "writes",
                            "writes rejected because of a quota since the start",
                            space -> space.status().rejectedQuotas())
                    .field("Spaces", "spaces_rejected_quotas"),
            space(
                            "rejected.rates",
                            "writes",
                            "writes rejected because of a rate since the start",
                            space -> space.status().rejectedRates())
                    .field("Spaces", "spaces_rejected_rates"));

    /** Statistics of the cluster, as seen by this node. */
    public static final List<Statistic<Cluster>> CLUSTER = List.of(
            gauge(
                    "caravan.cluster.leads",
                    "0 or 1",
                    "1 if this node is the leader",
                    cluster -> cluster.leads() ? 1 : 0),
            gauge(
                    "caravan.cluster.leader.known",
                    "0 or 1",
                    "1 if this node knows the leader; 0 during an election, or if the node cannot reach a majority",
                    cluster -> cluster.leader().isPresent() ? 1 : 0),
            gauge("caravan.cluster.term", "the current Raft term", Cluster::term)
                    .openField("Cluster", "cluster_term"),
            info("Cluster", "cluster_committed_entries", Cluster::committed),
            gauge(
                            "caravan.cluster.unapplied.entries",
                            "committed entries that this node has not applied yet",
                            Cluster::behind)
                    .openField("Cluster", "cluster_unapplied_entries"),
            gauge("caravan.cluster.log.entries", "entries that the node's Raft log keeps", Cluster::kept)
                    .openField("Cluster", "cluster_log_entries"),
            node(
                    "lag.entries",
                    "committed entries that a node, by `node`, has not received, as far as this node knows; most"
                            + " accurate on the leader",
                    cluster -> progress -> Math.max(0, cluster.committed() - progress.committed())),
            node(
                    "last.contact.seconds",
                    "time since the leader last received a reply from a node, by `node`; 0 if this is not known",
                    cluster -> progress ->
                            progress.silent() == null ? 0 : progress.silent().toMillis() / 1e3),
            node(
                    "snapshot.bytes",
                    "bytes of a snapshot that a node, by `node`, has received; 0 if the node is not receiving a"
                            + " snapshot, as far as this node knows",
                    cluster -> progress ->
                            progress.files() == null ? 0 : progress.files().bytes()));

    /** The statistics in each table of {@code docs/reference/metrics.md}, by the heading of its section. */
    public static final Map<String, List<? extends Statistic<?>>> SECTIONS = sections();

    private Statistics() {}

    private static Map<String, List<? extends Statistic<?>>> sections() {
        Map<String, List<? extends Statistic<?>>> sections = new LinkedHashMap<>();
        sections.put("## Store and documents", joined(DOCUMENTS, WRITES));
        sections.put("## Log, flushes, and checkpoints", LOG);
        sections.put("## Heap and disk", joined(HEAP, DISK));
        List<Statistic<Void>> requests = List.of(REQUESTS, LONGEST_REQUEST);
        List<Statistic<Supplier<Number>>> waits = List.of(BLOCKED_POPS, SUBSCRIPTIONS, SUBSCRIBERS_CLOSED);
        sections.put("## Requests and connections", joined(requests, CONNECTIONS, NETWORK, AUTHENTICATION, waits));
        sections.put("## Archive", ARCHIVE);
        sections.put("### Fetching and drills", joined(HYDRATION, DRILLS));
        sections.put("## Spaces", SPACES);
        sections.put("## Cluster", CLUSTER);
        return sections;
    }

    @SafeVarargs
    private static List<? extends Statistic<?>> joined(List<? extends Statistic<?>>... lists) {
        return Arrays.stream(lists).<Statistic<?>>flatMap(List::stream).toList();
    }

    /** Returns a statistic in seconds, whose field of {@code INFO} is in microseconds. */
    private static Statistic<StoreStats> micros(String name, String text, Function<StoreStats, Number> nanos) {
        return seconds("caravan.store." + name + ".seconds", text, nanos)
                .field(
                        PERSISTENCE,
                        name.replace('.', '_') + "_us",
                        value -> TimeUnit.NANOSECONDS.toMicros(value.longValue()));
    }

    private static Function<Drills, Number> last(Function<DrillReport, Number> value) {
        return drills -> {
            DrillReport report = drills.last();
            return report == null ? 0 : value.apply(report);
        };
    }

    private static Statistic<Spaces> space(String name, String text, Function<Space, Number> value) {
        return space(name, Statistic.unit(name), text, value);
    }

    private static Statistic<Spaces> space(String name, String unit, String text, Function<Space, Number> value) {
        return several(Type.GAUGE, "caravan.space." + name, unit, text, "prefix", spaces -> {
            Map<String, Number> values = new LinkedHashMap<>();
            spaces.all().forEach(space -> values.put(space.prefix().label(), value.apply(space)));
            return values;
        });
    }

    /** Returns a statistic with a value for each member of the group; 0 if the progress is unknown. */
    private static Statistic<Cluster> node(
            String name, String text, Function<Cluster, Function<Progress, Number>> value) {
        return several(Type.GAUGE, "caravan.cluster.node." + name, Statistic.unit(name), text, "node", cluster -> {
            Map<String, Number> values = new TreeMap<>();
            cluster.nodes().forEach(node -> values.put(node.id(), 0));
            Function<Progress, Number> ofNode = value.apply(cluster);
            cluster.progress().forEach(progress -> values.put(progress.node().id(), ofNode.apply(progress)));
            return values;
        });
    }
}
