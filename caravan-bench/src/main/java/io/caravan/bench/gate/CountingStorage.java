package io.caravan.bench.gate;

import io.caravan.bench.ForwardingStorage;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;

/** Delegates everything, and counts the flusher's forces of files. */
final class CountingStorage extends ForwardingStorage {
    private static final String FLUSHER = "caravan-flusher";

    private final LongAdder forces = new LongAdder();

    CountingStorage(Storage storage) {
        super(storage);
    }

    /** Number of forces so far. */
    long flusherForces() {
        return forces.sum();
    }

    @Override
    protected StoreFile standIn(String name, StoreFile file) {
        return new CountingFile(file);
    }

    private final class CountingFile extends ForwardingFile {
        CountingFile(StoreFile file) {
            super(file);
        }

        @Override
        public void force() throws IOException {
            if (Thread.currentThread().getName().startsWith(FLUSHER)) {
                forces.increment();
            }
            super.force();
        }
    }
}
