package io.caravan.bench;

import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A storage that delegates to another one; subclasses override what they need. */
public abstract class ForwardingStorage implements Storage {
    private final Storage storage;

    protected ForwardingStorage(Storage storage) {
        this.storage = storage;
    }

    /** Wraps a file that was created or opened; may return the file itself. */
    protected abstract StoreFile standIn(String name, StoreFile file);

    @Override
    public final List<String> list() throws IOException {
        return storage.list();
    }

    @Override
    public final StoreFile create(String name, long bytes) throws IOException {
        return standIn(name, storage.create(name, bytes));
    }

    @Override
    public final long usableBytes() throws IOException {
        return storage.usableBytes();
    }

    @Override
    public final StoreFile open(String name) throws IOException {
        return standIn(name, storage.open(name));
    }

    @Override
    public final void rename(String from, String to) throws IOException {
        storage.rename(from, to);
    }

    @Override
    public final void delete(String name) throws IOException {
        storage.delete(name);
    }

    @Override
    public final void forceDirectory() throws IOException {
        storage.forceDirectory();
    }

    @Override
    public final String describe(String name) {
        return storage.describe(name);
    }

    @Override
    public final void close() throws IOException {
        storage.close();
    }

    /** A file that delegates to another one; subclasses override writes and forces. */
    public abstract static class ForwardingFile implements StoreFile {
        private final StoreFile file;

        protected ForwardingFile(StoreFile file) {
            this.file = file;
        }

        @Override
        public final String path() {
            return file.path();
        }

        @Override
        public final long size() throws IOException {
            return file.size();
        }

        @Override
        public final int read(ByteBuffer target, long position) throws IOException {
            return file.read(target, position);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            file.write(source, position);
        }

        @Override
        public void force() throws IOException {
            file.force();
        }

        @Override
        public final MappedFile map() throws IOException {
            return file.map();
        }

        @Override
        public final void close() throws IOException {
            file.close();
        }
    }
}
