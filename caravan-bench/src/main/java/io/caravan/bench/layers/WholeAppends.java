package io.caravan.bench.layers;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.WriteCallback;
import io.caravan.bench.Directories;
import io.caravan.engine.Engine;
import io.caravan.io.FileStorage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Whole appends by one thread that does not wait for them, in rounds.
 *
 * <p>The store is as it is after a while of use: a round that is not measured comes first, and after each all is trimmed
 * and checkpointed, so that the next one finds log segments to recycle and space in the heap. What it costs to make the
 * files of a growing store is not in these figures.
 */
final class WholeAppends {
    /** After it no other round is begun. */
    private static final long MAX_NANOS = 2_000_000_000L;

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long POLL_NANOS = 1_000_000;
    /** More log than is written here: a store whose log was muted must not have to make a checkpoint meanwhile. */
    private static final long NEVER = 1L << 40;

    private static final WriteCallback CALLBACK = new WriteCallback() {
        @Override
        public void success(long sequence) {
            // The flush at the end waits for all.
        }

        @Override
        public void failure(CaravanException problem) {
            throw problem;
        }
    };

    private final Path directory;
    private final int roundAppends;
    private final int rounds;

    /**
     * Appends to a store in this directory, which is not there yet and will be gone.
     *
     * @param roundAppends of each round
     * @param rounds that are measured, fewer when they take longer than 2 s
     */
    WholeAppends(Path directory, int roundAppends, int rounds) {
        this.directory = directory;
        this.roundAppends = roundAppends;
        this.rounds = rounds;
    }

    /**
     * What came out.
     *
     * @param nanos from a round's first append to its last's acknowledgement, all rounds together
     * @param used by all threads meanwhile
     * @param recordsPerFlush on average
     */
    record Outcome(long count, long nanos, StoreThreads used, double recordsPerFlush) {
        double each(long of) {
            return (double) of / count;
        }
    }

    /** In a store of this durability. */
    Outcome run(Durability durability) throws IOException {
        StoreConfig config =
                StoreConfig.builder(directory).durability(durability).build();
        try (ListStore store = DurableListStore.open(config)) {
            return append(store);
        } finally {
            Directories.delete(directory);
        }
    }

    /** In a store whose log is neither written nor forced. */
    Outcome runMuted() throws IOException {
        StoreConfig config = StoreConfig.builder(directory)
                .durability(Durability.PROCESS)
                .checkpointFloorBytes(NEVER)
                .build();
        MutedStorage storage = new MutedStorage(FileStorage.openOrCreate(directory));
        try (ListStore store = Engine.open(config, storage, System::nanoTime)) {
            return append(store);
        } finally {
            Directories.delete(directory);
        }
    }

    private Outcome append(ListStore store) throws IOException {
        round(store);
        StoreThreads used = StoreThreads.NONE;
        long nanos = 0;
        long count = 0;
        while (count < (long) rounds * roundAppends && nanos < MAX_NANOS) {
            tidy(store);
            StoreThreads before = StoreThreads.now();
            nanos += round(store);
            used = used.plus(StoreThreads.now().since(before));
            count += roundAppends;
        }
        double recordsPerFlush = store.stats().batchRecords().mean();
        return new Outcome(count, nanos, used, recordsPerFlush);
    }

    private long round(ListStore store) {
        int[] ids = Shape.ids();
        byte[] value = Shape.value();
        long start = System.nanoTime();
        for (int i = 0; i < roundAppends; i++) {
            store.append(ids[Shape.at(i)], value, CALLBACK);
        }
        store.flush();
        return System.nanoTime() - start;
    }

    /** Makes the log's segments and the heap's space free again. */
    private static void tidy(ListStore store) throws IOException {
        for (int id = 0; id < Shape.LISTS; id++) {
            store.trimTo(id, Long.MAX_VALUE, CALLBACK);
        }
        // The log is kept back to the older of two.
        store.checkpoint();
        store.checkpoint();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (store.stats().heap().usedBytes() > 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("trimmed entries were not given back within " + PATIENCE.toSeconds() + " s");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
