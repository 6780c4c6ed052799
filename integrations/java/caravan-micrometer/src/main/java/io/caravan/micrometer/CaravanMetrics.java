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
 * The metrics of an embedded store, with the names and units (bytes, seconds) of the metrics of Caravan's server. They
 * are read from the store together, at most once a second. Thread-safe. Once the store is closed, the metrics keep
 * their last values. The registry keeps the store in memory until the meters are removed.
 */
public final class CaravanMetrics implements MeterBinder {
    private final ListStore store;
    private final Tags tags;
    private final LongSupplier clock;

    /** Creates metrics without tags, for an application with one store. */
    public CaravanMetrics(ListStore store) {
        this(store, Tags.empty());
    }

    /** Creates metrics with tags, which must distinguish them from those of another store in the same registry. */
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
        stats.counter("appends", "Values appended", StoreStats::appends);
        stats.counter("appended.bytes", "Bytes of the values appended", StoreStats::appendedBytes);
        stats.counter("trims", "Trims", StoreStats::trims);
        stats.counter("deletes", "Lists deleted", StoreStats::deletes);
        stats.counter("internal.writes", "Writes to the lists of the server itself", StoreStats::internalWrites);
        stats.counter("rejections", "Writes rejected", StoreStats::rejections);
        stats.counter("failures", "Failures: of the store, a checkpoint, or growth", StoreStats::failures);
        stats.counter("fsyncs", "Fsyncs of the log", StoreStats::fsyncs);
        stats.counter("log.bytes", "Bytes written to the log", StoreStats::logBytes);
        stats.counter("checkpoints", "Checkpoints published", StoreStats::checkpoints);
        Figures<Distribution> forces = stats.part(StoreStats::fsyncNanos);
        forces.seconds("fsync.p50", "Fsync of the log, median", Distribution::p50);
        forces.seconds("fsync.p99", "Fsync of the log, 99th percentile", Distribution::p99);
        Figures<Distribution> acks = stats.part(StoreStats::ackNanos);
        acks.seconds("ack.p50", "From a write to its acknowledgement, median", Distribution::p50);
        acks.seconds("ack.p99", "From a write to its acknowledgement, 99th percentile", Distribution::p99);
        Figures<Distribution> holds = stats.part(StoreStats::lockNanos);
        holds.seconds("lock.p99", "Hold of the store's lock, 99th percentile", Distribution::p99);
        holds.seconds("lock.max", "Longest hold of the store's lock since it was opened", Distribution::max);
        stats.seconds("checkpoint.last", "Duration of the last checkpoint", StoreStats::lastCheckpointNanos);
        stats.part(StoreStats::flushRecords).gauge("flush.records.mean", "Records a flush, mean", Distribution::mean);
        stats.gauge("lists", "Lists", StoreStats::lists);
        stats.gauge("values", "Values", StoreStats::values);
        Figures<HeapUse> heap = stats.part(StoreStats::heap);
        heap.gauge("heap.total.bytes", "The heap's files", HeapUse::totalBytes);
        heap.gauge("heap.used.bytes", "Live bytes, in the heap or still in the log", HeapUse::usedBytes);
        heap.gauge("heap.free.bytes", "The heap's free bytes", HeapUse::freeBytes);
        stats.gauge("log.replay.bytes", "Log that a recovery would replay", StoreStats::logBytesSinceCheckpoint);
        stats.gauge("pinned.readers", "Reads under way", StoreStats::pinnedReaders);
        new Figures<>(registry, tags, () -> store)
                .gauge(
                        "shards",
                        "Shards of the store, each with a log",
                        sharded -> sharded.shards().size());
    }

    /** The metrics of one source, which is queried for each value. */
    private record Figures<T>(MeterRegistry registry, Tags tags, Supplier<T> source) {
        private static final String PREFIX = "caravan.store.";

        /** Registers a counter. Its function refers to the source, because the registry refers to it only weakly. */
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
