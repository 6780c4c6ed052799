package io.caravan.testing;

import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A {@link Storage} that starts as a {@link DirectoryImage} and keeps all changes to itself, so that a test can open
 * the same store many thousand times, damaged differently each time. It never fails, and forgets nothing.
 */
public final class ImageStorage implements Storage {
    private static final String DIRECTORY = "/image/";

    private final Map<String, Content> files = new ConcurrentHashMap<>();
    private volatile Runnable afterStep = () -> {};

    public ImageStorage(DirectoryImage image) {
        image.files().forEach((name, bytes) -> files.put(name, new Content(bytes)));
    }

    /** A file's bytes, which are the image's until the first change. */
    private static final class Content {
        private byte[] bytes;
        private int size;
        private boolean owned;

        Content(byte[] bytes) {
            this.bytes = bytes;
            this.size = bytes.length;
        }

        synchronized int size() {
            return size;
        }

        synchronized byte[] copy() {
            return Arrays.copyOf(bytes, size);
        }

        synchronized byte[] own() {
            if (!owned) {
                bytes = copy();
                owned = true;
            }
            return bytes;
        }

        synchronized int read(ByteBuffer target, long position) {
            int count = (int) Math.max(0, Math.min(target.remaining(), size - position));
            target.put(bytes, (int) Math.min(position, size), count);
            return count;
        }

        synchronized void write(ByteBuffer source, long position) {
            int end = (int) position + source.remaining();
            own();
            if (end > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(end, bytes.length * 2));
            }
            source.get(bytes, (int) position, source.remaining());
            size = Math.max(size, end);
        }
    }

    private record File(String path, Content content) implements StoreFile {
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
            return new Mapping(ByteBuffer.wrap(content.own()).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN));
        }

        @Override
        public void close() {}
    }

    private record Mapping(ByteBuffer buffer) implements MappedFile {
        @Override
        public void unmap() {}
    }

    /** Inverts a byte of a file behind the back of whoever has it open or mapped; the second time puts it back. */
    public void invert(String name, int offset) {
        byte[] bytes = files.get(name).own();
        bytes[offset] = (byte) ~bytes[offset];
    }

    /** Runs an action on whichever thread has just created, renamed or deleted a file. */
    public void afterEachStep(Runnable action) {
        afterStep = action;
    }

    /** What it holds now. */
    public synchronized DirectoryImage image() {
        SortedMap<String, byte[]> copies = new TreeMap<>();
        files.forEach((name, content) -> copies.put(name, content.copy()));
        return new DirectoryImage(copies);
    }

    @Override
    public List<String> list() {
        return List.copyOf(files.keySet());
    }

    @Override
    public synchronized StoreFile create(String name, long bytes) {
        Content content = new Content(new byte[(int) bytes]);
        files.put(name, content);
        afterStep.run();
        return new File(describe(name), content);
    }

    @Override
    public long usableBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public StoreFile open(String name) throws IOException {
        return new File(describe(name), existing(files.get(name), name));
    }

    @Override
    public synchronized void rename(String from, String to) throws IOException {
        files.put(to, existing(files.remove(from), from));
        afterStep.run();
    }

    @Override
    public synchronized void delete(String name) throws IOException {
        existing(files.remove(name), name);
        afterStep.run();
    }

    private static Content existing(Content content, String name) throws IOException {
        if (content == null) {
            throw new NoSuchFileException(DIRECTORY + name);
        }
        return content;
    }

    @Override
    public void forceDirectory() {}

    @Override
    public String describe(String name) {
        return DIRECTORY + name;
    }

    @Override
    public void close() {}
}
