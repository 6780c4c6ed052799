package io.caravan.bench.gate;

import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Passes everything on, and counts the forces of files that the flusher makes. */
final class CountingStorage implements Storage {
    private static final String FLUSHER = "caravan-flusher";

    private final Storage storage;
    private final LongAdder forces = new LongAdder();

    CountingStorage(Storage storage) {
        this.storage = storage;
    }

    /** So far. */
    long flusherForces() {
        return forces.sum();
    }

    @Override
    public List<String> list() throws IOException {
        return storage.list();
    }

    @Override
    public StoreFile create(String name, long bytes) throws IOException {
        return new CountingFile(storage.create(name, bytes));
    }

    @Override
    public StoreFile open(String name) throws IOException {
        return new CountingFile(storage.open(name));
    }

    @Override
    public void rename(String from, String to) throws IOException {
        storage.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
        storage.delete(name);
    }

    @Override
    public void forceDirectory() throws IOException {
        storage.forceDirectory();
    }

    @Override
    public String describe(String name) {
        return storage.describe(name);
    }

    @Override
    public void close() throws IOException {
        storage.close();
    }

    private final class CountingFile implements StoreFile {
        private final StoreFile file;

        CountingFile(StoreFile file) {
            this.file = file;
        }

        @Override
        public String path() {
            return file.path();
        }

        @Override
        public long size() throws IOException {
            return file.size();
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return file.read(target, position);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            file.write(source, position);
        }

        @Override
        public void force() throws IOException {
            if (Thread.currentThread().getName().startsWith(FLUSHER)) {
                forces.increment();
            }
            file.force();
        }

        @Override
        public MappedFile map() throws IOException {
            return file.map();
        }

        @Override
        public MappedFile mapPrivately() throws IOException {
            return file.mapPrivately();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
