package io.caravan.bench.layers;

import io.caravan.format.Blocks;
import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A storage that takes frames of the log and forces of its files, and does nothing. What is left of a store on it is of
 * no use. Headers are written, as they are read back; mappings, into which values are copied, work as ever.
 */
final class MutedStorage implements Storage {
    private static final String LOG_PREFIX = "log-";

    private final Storage storage;

    MutedStorage(Storage storage) {
        this.storage = storage;
    }

    @Override
    public List<String> list() throws IOException {
        return storage.list();
    }

    @Override
    public StoreFile create(String name, long bytes) throws IOException {
        return muted(name, storage.create(name, bytes));
    }

    @Override
    public StoreFile open(String name) throws IOException {
        return muted(name, storage.open(name));
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

    private static StoreFile muted(String name, StoreFile file) {
        return name.startsWith(LOG_PREFIX) ? new MutedLogFile(file) : file;
    }

    private static final class MutedLogFile implements StoreFile {
        private final StoreFile file;

        MutedLogFile(StoreFile file) {
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
            if (position < Blocks.BLOCK_BYTES) {
                file.write(source, position);
            } else {
                source.position(source.limit());
            }
        }

        @Override
        public void force() {
            // As if the disk were done at once.
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
