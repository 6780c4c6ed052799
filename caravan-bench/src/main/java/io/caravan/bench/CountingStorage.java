package io.caravan.bench;

import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Delegates everything, and counts the flusher's forces of files and the bytes written to each file. The zeros that a
 * new file is created with are not counted.
 */
public final class CountingStorage extends ForwardingStorage {
    private static final String FLUSHER = "caravan-flusher";

    private final LongAdder forces = new LongAdder();
    private final Map<String, LongAdder> writtenBytes = new ConcurrentHashMap<>();

    public CountingStorage(Storage storage) {
        super(storage);
    }

    /** Number of forces so far. */
    public long flusherForces() {
        return forces.sum();
    }

    /** Bytes written so far to files whose names, when they were opened, started with the prefix. */
    public long writtenBytes(String prefix) {
        return writtenBytes.entrySet().stream()
                .filter(file -> file.getKey().startsWith(prefix))
                .mapToLong(file -> file.getValue().sum())
                .sum();
    }

    @Override
    protected StoreFile standIn(String name, StoreFile file) {
        return new CountingFile(file, writtenBytes.computeIfAbsent(name, opened -> new LongAdder()));
    }

    private final class CountingFile extends ForwardingFile {
        private final LongAdder bytes;

        CountingFile(StoreFile file, LongAdder bytes) {
            super(file);
            this.bytes = bytes;
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            bytes.add(source.remaining());
            super.write(source, position);
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
