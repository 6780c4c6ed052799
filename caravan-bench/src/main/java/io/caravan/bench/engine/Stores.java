package io.caravan.bench.engine;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.WriteCallback;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Creates the stores to measure, with all settings except the durability at their defaults. Quick runs use small files,
 * because creating files of the default size takes longer than the rest of the run.
 */
public final class Stores {
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

    /**
     * A callback for appends whose caller does not wait. The callback throws each failure, so that the store logs it;
     * the next flush also reports the failure. The callback is shared, so that appends allocate no callbacks.
     */
    public static final WriteCallback NO_CALLBACK = new WriteCallback() {
        @Override
        public void success(long sequence) {}

        @Override
        public void failure(CaravanException problem) {
            throw problem;
        }
    };

    private static final int SMALL_SEGMENT_BYTES = 8 << 20;

    private final boolean quick;

    /** Creates a factory for the stores of a full or a quick run. */
    public Stores(boolean quick) {
        this.quick = quick;
    }

    /** Whether this is a quick run. The results of a quick run do not matter, so it needs no warm-up. */
    boolean quick() {
        return quick;
    }

    public ListStore open(Path directory, Durability durability) {
        return DurableListStore.open(config(directory, durability).build());
    }

    /** Returns the settings of the stores, for callers that also change other settings. */
    public StoreConfig.Builder config(Path directory, Durability durability) {
        StoreConfig.Builder config = StoreConfig.builder(directory).durability(durability);
        return quick ? config.logSegmentBytes(SMALL_SEGMENT_BYTES).heapSegmentBytes(SMALL_SEGMENT_BYTES) : config;
    }

    /**
     * Empties a store whose lists have the workload's ids, but keeps its files. The heap keeps its size, and the
     * segments of the log can be recycled, because neither of the two retained checkpoints needs them.
     */
    public static void empty(ListStore store) throws IOException {
        for (long id = 0; id < Workload.IDS; id++) {
            store.delete(id, NO_CALLBACK);
        }
        // Space is freed once the deletions are fsynced. Below SYNC, only a checkpoint fsyncs them.
        store.checkpoint();
        long start = System.nanoTime();
        while (store.stats().heap().usedBytes() > 0) {
            if (System.nanoTime() - start > TIMEOUT_NANOS) {
                throw new IOException(store.stats().name() + " has not freed the space of deleted lists in time");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        store.checkpoint();
    }
}
