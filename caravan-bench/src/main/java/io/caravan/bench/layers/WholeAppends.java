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
 * Whole appends in rounds, by one thread that does not wait for them.
 *
 * <p>The store is in its steady state: an unmeasured round comes first, and after each round everything is trimmed and
 * checkpointed, so that the next one finds log segments to recycle and space in the heap. The figures exclude the cost
 * of creating the files of a growing store.
 */
final class WholeAppends {
    /** Time after which no other round starts. */
    private static final long MAX_NANOS = 2_000_000_000L;

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long POLL_NANOS = 1_000_000;
    /** More log than is written here: a store with a muted log must not need a checkpoint meanwhile. */
    private static final long NEVER = 1L << 40;

    private static final WriteCallback CALLBACK = new WriteCallback() {
        @Override
        public void success(long sequence) {
            // The flush at the end waits for all appends.
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
     * Appends to a store in this directory, which does not exist yet and is deleted afterwards.
     *
     * @param roundAppends appends in each round
     * @param rounds number of measured rounds; fewer when they take longer than 2 s
     */
    WholeAppends(Path directory, int roundAppends, int rounds) {
        this.directory = directory;
        this.roundAppends = roundAppends;
        this.rounds = rounds;
    }

    /**
     * The result.
     *
     * @param nanos from a round's first append to the last one's acknowledgement, summed over all rounds
     * @param used usage of all threads meanwhile
     * @param recordsPerFlush on average
     */
    record Outcome(long count, long nanos, StoreThreads used, double recordsPerFlush) {
        double each(long of) {
            return (double) of / count;
        }
    }

    /** Measures a store with this durability. */
    Outcome run(Durability durability) throws IOException {
        StoreConfig config =
                StoreConfig.builder(directory).durability(durability).build();
        try (ListStore store = DurableListStore.open(config)) {
            return append(store);
        } finally {
            Directories.delete(directory);
        }
    }

    /** Measures a store whose log is neither written nor forced. */
    Outcome runMuted() throws IOException {
        StoreConfig config = StoreConfig.builder(directory)
                .durability(Durability.PROCESS)
                .checkpointFloorBytes(NEVER)
                .build();
        MutedStorage storage = new MutedStorage(FileStorage.openOrCreate(directory));
        try (ListStore store = Engine.open(config, storage, System::nanoTime)) {
            Outcome outcome = append(store);
            // The values are nowhere: the checkpoint of a closing store must find none to move.
            tidy(store);
            return outcome;
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

    /** Frees the log's segments and the heap's space. */
    private static void tidy(ListStore store) throws IOException {
        for (int id = 0; id < Shape.LISTS; id++) {
            store.trimTo(id, Long.MAX_VALUE, CALLBACK);
        }
        // The log is retained back to the older of two checkpoints.
        store.checkpoint();
        store.checkpoint();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (store.stats().heap().usedBytes() > 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException(
                        "the space of trimmed entries was not freed within" + " " + PATIENCE.toSeconds() + " s");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
