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
    private final Map<String, Content> files = new ConcurrentHashMap<>();
    private final UUID bootId = UUID.randomUUID();

    /** Creates an empty directory with this name. */
    public ArrayStorage(String name) {
        this.name = name;
    }

    /** The bytes of a file up to the last byte written. All later bytes of the file are zeros. */
    private static final class Content implements MappedFile {
        private long size;
        private ByteBuffer bytes = ByteBuffer.allocate(0);
        /** A read-only view of {@code bytes}, for readers. */
        private volatile ByteBuffer view = bytes.asReadOnlyBuffer();

        Content(long size) {
            this.size = size;
        }

        synchronized long size() {
            return size;
        }

        synchronized int read(ByteBuffer target, long position) {
            int count = (int) Math.max(0, Math.min(target.remaining(), size - position));
            int written = (int) Math.max(0, Math.min(count, bytes.capacity() - position));
            if (written > 0) {
                target.put(bytes.slice((int) position, written));
            }
            target.put(new byte[count - written]);
            return count;
        }

        synchronized void write(ByteBuffer source, long position) {
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
        public ByteBuffer buffer() {
            return view;
        }

        @Override
        public void unmap() {}
    }

    private record OpenFile(String path, Content content) implements StoreFile {
        @Override
        public long size() {
            return content.size();
        }

        @Override
        public int read(ByteBuffer target, long position) {
            return content.read(target, position);
        }

        @Override
        public void write(ByteBuffer source, long position) {
            content.write(source, position);
        }

        @Override
        public void force() {}

        @Override
        public MappedFile map() {
            return content;
        }

        @Override
        public void close() {}
    }

    @Override
    public List<String> list() {
        return List.copyOf(files.keySet());
    }

    @Override
    public StoreFile create(String file, long bytes) {
        Content content = new Content(bytes);
        files.put(file, content);
        return new OpenFile(describe(file), content);
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
        return new OpenFile(describe(file), there(file, files.get(file)));
    }

    private Content there(String file, @Nullable Content found) throws IOException {
        if (found == null) {
            throw new NoSuchFileException(describe(file));
        }
        return found;
    }

    @Override
    public void rename(String from, String to) throws IOException {
        files.put(to, there(from, files.remove(from)));
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
