package io.caravan.testing;

import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * An in-memory directory on a disk of a certain size. Files are sparse: a block takes space when it is first written,
 * and frees it when its file is deleted. As on ext4 and XFS, a write without space for all its blocks takes the
 * remaining space and fails. Nothing is ever lost, so fsync does nothing.
 */
public final class SmallDisk implements Storage {
    private static final int BLOCK_BYTES = 4096;

    private final Map<String, Content> files = new HashMap<>();
    private long freeBlocks;
    private Runnable concurrently = () -> {};

    public SmallDisk(long bytes) {
        freeBlocks = bytes / BLOCK_BYTES;
    }

    /**
     * Sets the action that runs within each call that checks, takes, or frees space, or fsyncs, so that simulated
     * threads interleave.
     */
    public void concurrently(Runnable others) {
        concurrently = others;
    }

    /** The written bytes of one file, and the blocks that they take. A mapping keeps both alive without a name. */
    private static final class Content {
        final BitSet blocks = new BitSet();
        ByteBuffer written = ByteBuffer.allocate(0);
    }

    @Override
    public synchronized List<String> list() {
        return List.copyOf(files.keySet());
    }

    @Override
    public synchronized StoreFile create(String name, long bytes) throws IOException {
        concurrently.run();
        if (files.containsKey(name)) {
            delete(name);
        }
        files.put(name, new Content());
        StoreFile file = open(name);
        try {
            file.write(ByteBuffer.allocate(Math.toIntExact(bytes)), 0);
            return file;
        } catch (IOException full) {
            delete(name);
            throw full;
        }
    }

    @Override
    public synchronized long usableBytes() {
        long bytes = freeBlocks * BLOCK_BYTES;
        concurrently.run();
        return bytes;
    }

    @Override
    public UUID bootId() {
        return new UUID(0, 0);
    }

    @Override
    public synchronized StoreFile open(String name) throws IOException {
        return new OpenFile(name, existing(name));
    }

    private Content existing(String name) throws IOException {
        Content content = files.get(name);
        if (content == null) {
            throw new NoSuchFileException(describe(name));
        }
        return content;
    }

    @Override
    public synchronized void rename(String from, String to) throws IOException {
        Content moved = existing(from);
        if (files.containsKey(to)) {
            delete(to);
        }
        files.remove(from);
        files.put(to, moved);
    }

    @Override
    public synchronized void delete(String name) throws IOException {
        concurrently.run();
        freeBlocks += existing(name).blocks.cardinality();
        files.remove(name);
    }

    @Override
    public void forceDirectory() {
        concurrently.run();
    }

    @Override
    public String describe(String name) {
        return "small disk/" + name;
    }

    @Override
    public void close() {}

    private final class OpenFile implements StoreFile {
        private final String name;
        private final Content content;

        OpenFile(String name, Content content) {
            this.name = name;
            this.content = content;
        }

        @Override
        public String path() {
            return describe(name);
        }

        @Override
        public long size() {
            synchronized (SmallDisk.this) {
                return content.written.capacity();
            }
        }

        @Override
        public int read(ByteBuffer target, long position) {
            synchronized (SmallDisk.this) {
                int count = (int) Math.max(0, Math.min(target.remaining(), content.written.capacity() - position));
                if (count > 0) {
                    target.put(
                            content.written.duplicate().position((int) position).limit((int) position + count));
                }
                return count;
            }
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            synchronized (SmallDisk.this) {
                concurrently.run();
                int end = Math.toIntExact(position + source.remaining());
                take((int) position / BLOCK_BYTES, (end + BLOCK_BYTES - 1) / BLOCK_BYTES);
                if (end > content.written.capacity()) {
                    content.written = ByteBuffer.wrap(Arrays.copyOf(content.written.array(), end))
                            .order(ByteOrder.LITTLE_ENDIAN);
                }
                content.written.duplicate().position((int) position).put(source);
            }
        }

        private void take(int from, int to) throws IOException {
            for (int block = from; block < to; block++) {
                if (!content.blocks.get(block)) {
                    if (freeBlocks == 0) {
                        throw new IOException(path() + ": No space left on device");
                    }
                    content.blocks.set(block);
                    freeBlocks--;
                }
            }
        }

        @Override
        public void force() {
            concurrently.run();
        }

        @Override
        public MappedFile map() {
            synchronized (SmallDisk.this) {
                return new Mapping(content.written.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN));
            }
        }

        @Override
        public void close() {}
    }

    private record Mapping(ByteBuffer buffer) implements MappedFile {
        @Override
        public void unmap() {}
    }
}
