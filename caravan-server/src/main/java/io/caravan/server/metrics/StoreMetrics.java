package io.caravan.server.metrics;

import io.caravan.StoreStats;
import io.caravan.StoreStats.Distribution;
import io.caravan.StoreStats.HeapUse;
import io.caravan.server.document.DocumentService;
import io.caravan.server.metrics.ServerMetrics.Figures;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** The store's metrics, which are read together, at most once a second. */
public final class StoreMetrics {
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<StoreStats> source;
    private StoreStats last;
    private long lastNanos;

    private StoreMetrics(Supplier<StoreStats> source) {
        this.source = source;
        this.last = source.get();
        this.lastNanos = System.nanoTime();
    }

    /** Registers the metrics of the store, its documents, and its disk. */
    public static void register(ServerMetrics metrics, DocumentService served, DiskSpace space) {
        Figures<DocumentService> documents = metrics.of(() -> served);
        documents.gauge("caravan.documents", "Documents", DocumentService::documents);
        documents.counter("caravan.reads", "Reads of values, whatever their number", DocumentService::reads);
        documents.gauge("caravan.store.shards", "Shards of the store, each with a log", DocumentService::shards);
        documents.gauge(
                "caravan.store.writable",
                "1 while the store takes writes, 0 since it has failed or has no space",
                each -> each.trouble() == null ? 1 : 0);
        Figures<DiskSpace> disk = metrics.of(() -> space);
        disk.gauge("caravan.disk.free.bytes", "Free bytes of the store's file system", DiskSpace::freeBytes);
        disk.gauge("caravan.disk.total.bytes", "Size of the store's file system", DiskSpace::totalBytes);
        register(metrics, served::stats);
    }

    private static void register(ServerMetrics metrics, Supplier<StoreStats> source) {
        Figures<StoreStats> store = metrics.of(new StoreMetrics(source)::fresh);
        store.counter("caravan.store.appends", "Values appended", StoreStats::appends);
        store.counter("caravan.store.appended.bytes", "Bytes of the values appended", StoreStats::appendedBytes);
        store.counter("caravan.store.trims", "Trims", StoreStats::trims);
        store.counter("caravan.store.deletes", "Lists deleted", StoreStats::deletes);
        store.counter(
                "caravan.store.internal.writes",
                "Writes to the lists of the server itself",
                StoreStats::internalWrites);
        store.counter("caravan.store.rejections", "Writes rejected", StoreStats::rejections);
        store.counter(
                "caravan.store.failures", "Failures: of the store, a checkpoint, or growth", StoreStats::failures);
        store.counter("caravan.store.fsyncs", "Fsyncs of the log", StoreStats::fsyncs);
        store.counter("caravan.store.log.bytes", "Bytes written to the log", StoreStats::logBytes);
        store.counter("caravan.store.checkpoints", "Checkpoints published", StoreStats::checkpoints);
        Figures<Distribution> forces = store.part(StoreStats::fsyncNanos);
        seconds(forces, "fsync.p50", "Fsync of the log, median", Distribution::p50);
        seconds(forces, "fsync.p99", "Fsync of the log, 99th percentile", Distribution::p99);
        Figures<Distribution> acks = store.part(StoreStats::ackNanos);
        seconds(acks, "ack.p50", "From a write to its acknowledgement, median", Distribution::p50);
        seconds(acks, "ack.p99", "From a write to its acknowledgement, 99th percentile", Distribution::p99);
        Figures<Distribution> holds = store.part(StoreStats::lockNanos);
        seconds(holds, "lock.p99", "Hold of the store's lock, 99th percentile", Distribution::p99);
        seconds(holds, "lock.max", "Longest hold of the store's lock since it was opened", Distribution::max);
        seconds(store, "checkpoint.last", "Duration of the last checkpoint", StoreStats::lastCheckpointNanos);
        Figures<Distribution> batches = store.part(StoreStats::flushRecords);
        batches.gauge("caravan.store.flush.records.mean", "Records a flush, mean", Distribution::mean);
        store.gauge("caravan.store.lists", "Lists", StoreStats::lists);
        store.gauge("caravan.store.values", "Values", StoreStats::values);
        Figures<HeapUse> heap = store.part(StoreStats::heap);
        heap.gauge("caravan.store.heap.total.bytes", "The heap's files", HeapUse::totalBytes);
        heap.gauge("caravan.store.heap.used.bytes", "Live bytes, in the heap or still in the log", HeapUse::usedBytes);
        heap.gauge("caravan.store.heap.free.bytes", "The heap's free bytes", HeapUse::freeBytes);
        store.gauge(
                "caravan.store.log.replay.bytes",
                "Log that a recovery would replay",
                StoreStats::logBytesSinceCheckpoint);
        store.gauge("caravan.store.pinned.readers", "Reads under way", StoreStats::pinnedReaders);
    }

    private static <T> void seconds(Figures<T> source, String name, String description, ToLongFunction<T> nanos) {
        source.gauge("caravan.store." + name + ".seconds", description, s -> nanos.applyAsLong(s) / 1e9);
    }

    private synchronized StoreStats fresh() {
        long now = System.nanoTime();
        if (now - lastNanos >= FRESH_NANOS) {
            last = source.get();
            lastNanos = now;
        }
        return last;
    }
}
