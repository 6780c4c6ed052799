package io.caravan.server.metrics;

import io.caravan.StoreStats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** The store's figures, read together and at most once a second. */
public final class StoreMetrics {
    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final MeterRegistry registry;
    private final Supplier<StoreStats> source;
    private StoreStats last;
    private long lastNanos;

    private StoreMetrics(MeterRegistry registry, Supplier<StoreStats> source) {
        this.registry = registry;
        this.source = source;
        this.last = source.get();
        this.lastNanos = System.nanoTime();
    }

    /**
     * Registers the figures.
     *
     * @param documents the number of documents
     */
    public static void register(ServerMetrics metrics, Supplier<StoreStats> source, LongSupplier documents) {
        StoreMetrics store = new StoreMetrics(metrics.registry(), source);
        store.counters();
        store.gauges();
        Gauge.builder("caravan.documents", documents::getAsLong)
                .description("Documents")
                .register(metrics.registry());
    }

    private void counters() {
        counter("caravan.store.appends", "Values appended", StoreStats::appends);
        counter("caravan.store.appended.bytes", "Bytes of the values appended", StoreStats::appendedBytes);
        counter("caravan.store.trims", "Trims", StoreStats::trims);
        counter("caravan.store.deletes", "Lists deleted", StoreStats::deletes);
        counter("caravan.store.refusals", "Writes refused", StoreStats::refusals);
        counter("caravan.store.failures", "Failures: of the store, a checkpoint, or growth", StoreStats::failures);
        counter("caravan.store.forces", "Forces of the log", StoreStats::forces);
        counter("caravan.store.log.bytes", "Bytes written to the log", StoreStats::logBytes);
        counter("caravan.store.checkpoints", "Checkpoints published", StoreStats::checkpoints);
    }

    private void gauges() {
        gauge(
                "caravan.store.force.p50.seconds",
                "Force of the log, median",
                s -> seconds(s.forceNanos().p50()));
        gauge(
                "caravan.store.force.p99.seconds",
                "Force of the log, 99th percentile",
                s -> seconds(s.forceNanos().p99()));
        gauge(
                "caravan.store.ack.p50.seconds",
                "From a write to its acknowledgement, median",
                s -> seconds(s.ackNanos().p50()));
        gauge(
                "caravan.store.ack.p99.seconds",
                "From a write to its acknowledgement, 99th percentile",
                s -> seconds(s.ackNanos().p99()));
        gauge(
                "caravan.store.lock.p99.seconds",
                "Hold of the store's lock, 99th percentile",
                s -> seconds(s.lockNanos().p99()));
        gauge(
                "caravan.store.lock.max.seconds",
                "Longest hold of the store's lock since it was opened",
                s -> seconds(s.lockNanos().max()));
        gauge(
                "caravan.store.batch.records.mean",
                "Records a flush, mean",
                s -> s.batchRecords().mean());
        gauge("caravan.store.lists", "Lists", StoreStats::lists);
        gauge(
                "caravan.store.heap.total.bytes",
                "The heap's files",
                s -> s.heap().totalBytes());
        gauge(
                "caravan.store.heap.used.bytes",
                "The heap's live bytes",
                s -> s.heap().usedBytes());
        gauge(
                "caravan.store.heap.free.bytes",
                "The heap's free bytes",
                s -> s.heap().freeBytes());
        gauge(
                "caravan.store.log.replay.bytes",
                "Log that a recovery would replay",
                StoreStats::logBytesSinceCheckpoint);
        gauge(
                "caravan.store.checkpoint.last.seconds",
                "Duration of the last checkpoint",
                s -> seconds(s.lastCheckpointNanos()));
        gauge("caravan.store.pinned.readers", "Reads under way", StoreStats::pinnedReaders);
    }

    private static double seconds(long nanos) {
        return nanos / (double) TimeUnit.SECONDS.toNanos(1);
    }

    private void counter(String name, String description, ToDoubleFunction<StoreStats> figure) {
        FunctionCounter.builder(name, this, self -> figure.applyAsDouble(self.fresh()))
                .description(description)
                .register(registry);
    }

    private void gauge(String name, String description, ToDoubleFunction<StoreStats> figure) {
        Gauge.builder(name, () -> figure.applyAsDouble(fresh()))
                .description(description)
                .register(registry);
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
