package io.caravan.micrometer;

import io.caravan.ListStore;
import io.caravan.StoreStats;
import io.caravan.StoreStats.Distribution;
import io.caravan.StoreStats.HeapUse;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Publishes the metrics of an embedded store with the names and units (bytes, seconds) that Caravan's server uses. All
 * of them are read from the store together, at most once a second. Thread-safe. Once the store is closed, the metrics
 * keep their last values. The registry retains the store until the meters are removed.
 */
public final class CaravanMetrics implements MeterBinder {
    private final ListStore store;
    private final Tags tags;
    private final LongSupplier clock;

    /** Creates untagged metrics, which suffice for an application with one store. */
    public CaravanMetrics(ListStore store) {
        this(store, Tags.empty());
    }

    /** Creates metrics with tags, which must differ between stores that share a registry. */
    public CaravanMetrics(ListStore store, Iterable<Tag> tags) {
        this(store, tags, System::nanoTime);
    }

    CaravanMetrics(ListStore store, Iterable<Tag> tags, LongSupplier clock) {
        this.store = store;
        this.tags = Tags.of(tags);
        this.clock = clock;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Figures<StoreStats> stats = new Figures<>(registry, tags, new LatestStats(store, clock));
        stats.counter("appends", "values appended to documents", StoreStats::appends);
        stats.counter("appended.bytes", "total length of the values appended to documents", StoreStats::appendedBytes);
        stats.counter("trims", "trims", StoreStats::trims);
        stats.counter("deletes", "lists deleted", StoreStats::deletes);
        stats.counter(
                "internal.writes",
                "appends, trims, and deletes in lists that the server uses internally, such as the catalog and the"
                        + " state of the archive; the counters above exclude them",
                StoreStats::internalWrites);
        stats.counter(
                "rejections",
                "writes that the store rejected, except those that are repeated once there is space",
                StoreStats::rejections);
        stats.counter(
                "failures",
                "failed checkpoints, failed attempts to make or remove a log segment, and damaged values that a"
                        + " checkpoint found in the log, plus one if the store has failed",
                StoreStats::failures);
        stats.counter("fsyncs", "fsyncs of the log", StoreStats::fsyncs);
        stats.counter("log.bytes", "bytes written to the log", StoreStats::logBytes);
        stats.counter("checkpoints", "checkpoints published", StoreStats::checkpoints);
        Figures<Distribution> forces = stats.part(StoreStats::fsyncNanos);
        forces.seconds(
                "fsync.p50", "duration of one write and fsync of the log, median since the start", Distribution::p50);
        forces.seconds(
                "fsync.p99",
                "duration of one write and fsync of the log, 99th percentile since the start",
                Distribution::p99);
        Figures<Distribution> acks = stats.part(StoreStats::ackNanos);
        acks.seconds(
                "ack.p50",
                "time from the first write of a flush to its acknowledgment, median since the start",
                Distribution::p50);
        acks.seconds(
                "ack.p99",
                "time from the first write of a flush to its acknowledgment, 99th percentile since the start",
                Distribution::p99);
        Figures<Distribution> holds = stats.part(StoreStats::lockNanos);
        holds.seconds(
                "lock.p99",
                "time for which the store's lock was held, 99th percentile since the start",
                Distribution::p99);
        holds.seconds(
                "lock.max", "longest time for which the store's lock was held since the start", Distribution::max);
        stats.seconds("checkpoint.last", "duration of the last checkpoint", StoreStats::lastCheckpointNanos);
        stats.part(StoreStats::flushRecords)
                .gauge("flush.records.mean", "mean number of records per flush, since the start", Distribution::mean);
        stats.gauge("lists", "lists, including lists that the server uses internally", StoreStats::lists);
        stats.gauge("values", "values of all documents", StoreStats::values);
        Figures<HeapUse> heap = stats.part(StoreStats::heap);
        heap.gauge(
                "heap.total.bytes",
                "total size of the heap's files, which is the maximum disk space that they take",
                HeapUse::totalBytes);
        heap.gauge(
                "heap.used.bytes",
                "total size of live entries, in the heap or still in the log; it can therefore exceed the size of the"
                        + " heap's files",
                HeapUse::usedBytes);
        heap.gauge("heap.free.bytes", "free space in the heap's files", HeapUse::freeBytes);
        stats.gauge(
                "log.replay.bytes",
                "approximate length of the log that a recovery would replay",
                StoreStats::logBytesSinceCheckpoint);
        stats.gauge("pinned.readers", "reads in progress", StoreStats::pinnedReaders);
        new Figures<>(registry, tags, () -> store)
                .gauge(
                        "shards",
                        "shards of the store, each with a log",
                        sharded -> sharded.shards().size());
    }

    /** Registers metrics whose values are read from one source. */
    private record Figures<T>(MeterRegistry registry, Tags tags, Supplier<T> source) {
        private static final String PREFIX = "caravan.store.";

        /** Registers a counter whose function keeps the source reachable, because the registry's reference is weak. */
        void counter(String name, String description, ToDoubleFunction<T> figure) {
            FunctionCounter.builder(PREFIX + name, source, any -> figure.applyAsDouble(source.get()))
                    .description(description)
                    .tags(tags)
                    .register(registry);
        }

        void gauge(String name, String description, ToDoubleFunction<T> figure) {
            Gauge.builder(PREFIX + name, () -> figure.applyAsDouble(source.get()))
                    .description(description)
                    .tags(tags)
                    .register(registry);
        }

        void seconds(String name, String description, ToLongFunction<T> nanos) {
            gauge(name + ".seconds", description, figures -> nanos.applyAsLong(figures) / 1e9);
        }

        <P> Figures<P> part(Function<T, P> part) {
            return new Figures<>(registry, tags, () -> part.apply(source.get()));
        }
    }

    /** The store's statistics, read at most once a second, so that the values of one scrape are consistent. */
    private static final class LatestStats implements Supplier<StoreStats> {
        private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

        private final ListStore store;
        private final LongSupplier clock;
        private StoreStats latest;
        private long readNanos;

        LatestStats(ListStore store, LongSupplier clock) {
            this.store = store;
            this.clock = clock;
            this.latest = store.stats();
            this.readNanos = clock.getAsLong();
        }

        @Override
        public synchronized StoreStats get() {
            long now = clock.getAsLong();
            if (now - readNanos >= FRESH_NANOS) {
                latest = store.stats();
                readNanos = now;
            }
            return latest;
        }
    }
}
