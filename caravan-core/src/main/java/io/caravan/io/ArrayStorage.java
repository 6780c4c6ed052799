package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Storage} in the JVM heap, whose contents do not outlive the process. A file takes memory up to the last byte
 * written.
 */
public final class ArrayStorage implements Storage {
    private static final int FIRST_BYTES = 4096;

    private final String name;
    private final Map<String, ArrayFile> files = new ConcurrentHashMap<>();
    private final UUID bootId = UUID.randomUUID();

    /** Creates an empty directory with this name. */
    public ArrayStorage(String name) {
        this.name = name;
    }

    /** The bytes of a file up to the last byte written. All later bytes of the file are zeros. */
    private static final class ArrayFile implements StoreFile, MappedFile {
        private volatile String path;
        private long size;
        private ByteBuffer bytes = ByteBuffer.allocate(0);
        /** A read-only view of {@code bytes}, for readers. */
        private volatile ByteBuffer view = bytes.asReadOnlyBuffer();

        ArrayFile(String path, long size) {
            this.path = path;
            this.size = size;
        }

        @Override
        public String path() {
            return path;
        }

        @Override
        public synchronized long size() {
            return size;
        }

        @Override
        public synchronized int read(ByteBuffer target, long position) {
            int count = (int) Math.max(0, Math.min(target.remaining(), size - position));
            int written = (int) Math.max(0, Math.min(count, bytes.capacity() - position));
            if (written > 0) {
                target.put(bytes.slice((int) position, written));
            }
            target.put(new byte[count - written]);
            return count;
        }

        @Override
        public synchronized void write(ByteBuffer source, long position) {
            int at = Math.toIntExact(position);
            int end = Math.addExact(at, source.remaining());
            size = Math.max(size, end);
            if (end > bytes.capacity()) {
                long grown = Math.max(FIRST_BYTES, 2L * bytes.capacity());
                ByteBuffer more = ByteBuffer.allocate((int) Math.max(end, Math.min(grown, size)));
                bytes = more.put(bytes.duplicate().clear()).clear();
                view = bytes.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
            }
            bytes.put(at, source, source.position(), source.remaining());
            source.position(source.limit());
        }

        @Override
        public void force() {}

        @Override
        public MappedFile map() {
            return this;
        }

        @Override
        public ByteBuffer buffer() {
            return view;
        }

        @Override
        public void unmap() {}

        @Override
        public void close() {}
    }

    @Override
    public List<String> list() {
        return List.copyOf(files.keySet());
    }

    @Override
    public StoreFile create(String file, long bytes) {
        ArrayFile created = new ArrayFile(describe(file), bytes);
        files.put(file, created);
        return created;
    }

    @Override
    public long usableBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public UUID bootId() {
        return bootId;
    }

    @Override
    public StoreFile open(String file) throws IOException {
        return there(file, files.get(file));
    }

    private ArrayFile there(String file, @Nullable ArrayFile found) throws IOException {
        if (found == null) {
            throw new NoSuchFileException(describe(file));
        }
        return found;
    }

    @Override
    public void rename(String from, String to) throws IOException {
        ArrayFile renamed = there(from, files.remove(from));
        renamed.path = describe(to);
        files.put(to, renamed);
    }

    @Override
    public void delete(String file) throws IOException {
        there(file, files.remove(file));
    }

    @Override
    public void forceDirectory() {}

    @Override
    public String describe(String file) {
        return name + "/" + file;
    }

    @Override
    public void close() {}
}
