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

/** Whole appends to a fresh store by one thread that does not wait for them, for a while or up to a number. */
final class WholeAppends {
    private static final int BATCH = 1_000;
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
    private final int maxCount;
    private final long maxNanos;

    /** Appends to a store in this directory, which is not there yet and will be gone. */
    WholeAppends(Path directory, int maxCount, Duration length) {
        this.directory = directory;
        this.maxCount = maxCount;
        maxNanos = length.toNanos();
    }

    /**
     * What came out.
     *
     * @param nanos from the first append to the last's acknowledgement
     * @param used by all threads meanwhile
     */
    record Outcome(long count, long nanos, StoreThreads used) {
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
        int[] ids = Shape.ids();
        byte[] value = Shape.value();
        StoreThreads before = StoreThreads.now();
        long start = System.nanoTime();
        int count = 0;
        while (count < maxCount && System.nanoTime() - start < maxNanos) {
            for (int i = 0; i < BATCH; i++) {
                store.append(ids[Shape.at(count + i)], value, CALLBACK);
            }
            count += BATCH;
        }
        store.flush();
        long nanos = System.nanoTime() - start;
        return new Outcome(count, nanos, StoreThreads.now().since(before));
    }
}
