package io.caravan.bench.life;

import io.caravan.Durability;
import io.caravan.StoreConfig;
import io.caravan.bench.CountingStorage;
import io.caravan.bench.Directories;
import io.caravan.bench.engine.CaravanLists;
import io.caravan.bench.engine.Contestant;
import io.caravan.bench.engine.LongestGap;
import io.caravan.bench.engine.Stores;
import io.caravan.bench.life.DocumentLife.Activity;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.peers.PeerStore;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.engine.Engine;
import io.caravan.io.FileStorage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * Contestants that go through the same life, each with a new store, until enough has been appended or a time is up.
 * What reaches the disk counts until the store is closed.
 */
final class LifeRun {
    static final String DURABILITY = Contestant.SYNCED_BATCHES;
    static final Figure DISK_RATIO = new Figure("disk / appended", "%,.2f");
    private static final Figure LOG_RATIO = new Figure("log / appended", "%,.2f");
    private static final Figure HEAP_RATIO = new Figure("heap / appended", "%,.2f");
    static final Figure LOG_AND_HEAP_RATIO = new Figure("log and heap / appended", "%,.2f");
    private static final Figure CHECKPOINT_RATIO = new Figure("checkpoints / appended", "%,.2f");
    private static final Figure APPENDED_MB = new Figure("appended, MB", "%,.0f");
    private static final Figure LIVE_MB = new Figure("live at the end, MB", "%,.0f");
    private static final Figure STORED_MB = new Figure("on disk at the end, MB", "%,.0f");

    private static final int BATCH = 1_000;
    private static final double BYTES_PER_MB = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private final Stores stores;
    private final long seed;

    LifeRun(boolean quick, long seed) {
        stores = new Stores(quick);
        this.seed = seed;
    }

    /**
     * A run starts no further 1,000 changes after one of these.
     *
     * @param appendedBytes bytes of values
     * @param logBytes of Caravan; the others have no such end
     */
    record End(long appendedBytes, long logBytes, long seconds) {
        private boolean reached(DocumentLife life, long logged, long nanos) {
            return life.appendedBytes() >= appendedBytes
                    || logged >= logBytes
                    || nanos >= TimeUnit.SECONDS.toNanos(seconds);
        }
    }

    long seed() {
        return seed;
    }

    /** Caravan with some settings of its own. */
    Contestant caravan(String system, Activity activity, End end, UnaryOperator<StoreConfig.Builder> settings) {
        return new Contestant(system, DURABILITY, directory -> {
            StoreConfig config =
                    settings.apply(stores.config(directory, Durability.SYNC)).build();
            CountingStorage storage = new CountingStorage(FileStorage.openOrCreate(directory));
            DocumentLife life = new DocumentLife(seed, activity);
            LongSupplier logged = () -> storage.writtenBytes("log-");
            Measurement measurement = live(
                    directory,
                    () -> new CaravanLists(Engine.open(config, storage, System::nanoTime)),
                    life,
                    nanos -> end.reached(life, logged.getAsLong(), nanos));
            double appended = life.appendedBytes();
            double log = logged.getAsLong() / appended;
            double heap = storage.writtenBytes("heap-") / appended;
            return measurement
                    .with(LOG_RATIO, log)
                    .with(HEAP_RATIO, heap)
                    .with(LOG_AND_HEAP_RATIO, log + heap)
                    .with(CHECKPOINT_RATIO, storage.writtenBytes("checkpoint-") / appended);
        });
    }

    /** A peer that is synced. */
    Contestant peer(Peer peer, Activity activity, End end) {
        return new Contestant(peer.title(), DURABILITY, directory -> {
            DocumentLife life = new DocumentLife(seed, activity);
            return live(directory, () -> peer.open(directory, true), life, nanos -> end.reached(life, 0, nanos));
        });
    }

    private interface Opener {
        PeerStore open() throws IOException;
    }

    private Measurement live(Path directory, Opener opener, DocumentLife life, LongPredicate ended) throws IOException {
        OptionalLong before = DiskWrites.bytes(Directories.create(directory));
        Measurement measurement;
        try (PeerStore store = opener.open()) {
            measurement = live(store, life, ended);
        }
        OptionalLong after = DiskWrites.bytes(directory);
        if (before.isPresent() && after.isPresent()) {
            double written = after.getAsLong() - before.getAsLong();
            measurement.with(DISK_RATIO, written / life.appendedBytes());
        }
        return measurement
                .with(APPENDED_MB, life.appendedBytes() / BYTES_PER_MB)
                .with(LIVE_MB, life.liveBytes() / BYTES_PER_MB)
                .with(STORED_MB, Directories.allocatedBytes(directory) / BYTES_PER_MB);
    }

    private Measurement live(PeerStore store, DocumentLife life, LongPredicate ended) throws IOException {
        long start = System.nanoTime();
        long now = start;
        LongestGap gap = new LongestGap(start);
        while (!ended.test(now - start)) {
            for (int i = 0; i < BATCH; i++) {
                life.change(store);
                gap.event();
            }
            store.commit();
            now = System.nanoTime();
            gap.eventAt(now);
        }
        return new Measurement()
                .appendsPerSecond(life.appends(), now - start)
                .with(
                        Figure.VALUE_MB_PER_SECOND,
                        life.appendedBytes() / BYTES_PER_MB / ((now - start) / NANOS_PER_SECOND))
                .longestAppend(gap.nanos());
    }
}
