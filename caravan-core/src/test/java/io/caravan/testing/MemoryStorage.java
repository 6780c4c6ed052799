package io.caravan.testing;

import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * An in-memory directory in two layers: the written contents, which readers see, and the fsynced contents, which
 * survive a power cut. The contract of {@link Storage} applies to a power cut. After a power cut, a file with fsynced
 * bytes but without a durable name is missing. A durable name has the contents of the last fsync of its file.
 *
 * <p>The model is the simplest one: everything that was not fsynced is lost. A store continues on its own storage after
 * a power cut, because {@link #powerCut()} and {@link #processKill()} return another one.
 */
public final class MemoryStorage implements Storage {

    /**
     * The content of one file, both as written and as fsynced. Names point to it, and a mapping keeps it alive without
     * a name. Until the first change, the bytes may be those of an image or the fsynced ones.
     */
    private static final class Content {
        private byte[] written;
        private byte[] forced;
        private boolean owned;

        Content(byte[] bytes) {
            this.written = bytes;
            this.forced = bytes;
        }

        synchronized byte[] own() {
            if (!owned) {
                written = written.clone();
                owned = true;
            }
            return written;
        }

        synchronized int size() {
            return written.length;
        }

        synchronized int read(ByteBuffer target, long position) {
            int count = (int) Math.max(0, Math.min(target.remaining(), written.length - position));
            if (count > 0) {
                target.put(written, (int) position, count);
            }
            return count;
        }

        synchronized void write(ByteBuffer source, long position) {
            int end = Math.toIntExact(position + source.remaining());
            own();
            if (end > written.length) {
                written = Arrays.copyOf(written, end);
            }
            source.get(written, (int) position, source.remaining());
        }

        synchronized void force() {
            forced = copy();
        }

        synchronized byte[] copy() {
            return written.clone();
        }

        synchronized Content afterPowerCut() {
            return new Content(forced);
        }

        synchronized Content afterKill() {
            Content left = new Content(copy());
            left.forced = forced;
            return left;
        }
    }

    private final Map<String, Content> files = new HashMap<>();
    private final Map<String, Content> forcedFiles = new HashMap<>();
    /** The number of power cuts that preceded this storage. */
    private final int boot;

    public MemoryStorage() {
        this(0);
    }

    private MemoryStorage(int boot) {
        this.boot = boot;
    }

    /** Creates a {@code MemoryStorage} with copies of the files of an image, all durable. The image does not change. */
    public MemoryStorage(DirectoryImage image) {
        this(1);
        image.files().forEach((name, bytes) -> files.put(name, new Content(bytes)));
        forcedFiles.putAll(files);
    }

    /** Returns the current contents. */
    public synchronized DirectoryImage image() {
        SortedMap<String, byte[]> copies = new TreeMap<>();
        files.forEach((name, content) -> copies.put(name, content.copy()));
        return new DirectoryImage(copies);
    }

    /** Inverts a byte of a file, which may be open or mapped. The second call restores the byte. */
    public synchronized void invert(String name, int offset) {
        byte[] bytes = files.get(name).own();
        bytes[offset] = (byte) ~bytes[offset];
    }

    /** Returns the storage that a power cut at this moment would leave. */
    public synchronized MemoryStorage powerCut() {
        MemoryStorage left = new MemoryStorage(boot + 1);
        forcedFiles.forEach((name, content) -> left.files.put(name, content.afterPowerCut()));
        left.forcedFiles.putAll(left.files);
        return left;
    }

    /** Returns the storage that a kill of the process at this moment would leave. A power cut can still follow. */
    public synchronized MemoryStorage processKill() {
        MemoryStorage left = new MemoryStorage(boot);
        Map<Content, Content> copies = new HashMap<>();
        files.forEach((name, content) -> left.files.put(name, copies.computeIfAbsent(content, Content::afterKill)));
        forcedFiles.forEach(
                (name, content) -> left.forcedFiles.put(name, copies.computeIfAbsent(content, Content::afterKill)));
        return left;
    }

    /** Returns copies of the contents of all files, as readers see them. */
    public synchronized SortedMap<String, ByteBuffer> contents() {
        SortedMap<String, ByteBuffer> contents = new TreeMap<>();
        files.forEach((name, content) -> contents.put(name, ByteBuffer.wrap(content.copy())));
        return contents;
    }

    /** Returns the actual bytes of a file, for inspection and damage. A mapping of the file sees all changes. */
    public synchronized ByteBuffer bytes(String name) {
        Content content = files.get(name);
        if (content == null) {
            throw new IllegalArgumentException("no file " + name + " in " + files.keySet());
        }
        return mapped(content);
    }

    private static ByteBuffer mapped(Content content) {
        return ByteBuffer.wrap(content.own()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Adds or replaces a file and makes it durable. */
    public synchronized void put(String name, byte[] bytes) {
        Content content = new Content(bytes.clone());
        files.put(name, content);
        forcedFiles.put(name, content);
    }

    /** Removes a file and makes the removal durable. */
    public synchronized void remove(String name) {
        files.remove(name);
        forcedFiles.remove(name);
    }

    @Override
    public synchronized List<String> list() {
        return List.copyOf(files.keySet());
    }

    @Override
    public synchronized StoreFile create(String name, long bytes) {
        Content content = new Content(new byte[Math.toIntExact(bytes)]);
        files.put(name, content);
        return new OpenFile(describe(name), content);
    }

    @Override
    public long usableBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public UUID bootId() {
        return new UUID(0, boot);
    }

    @Override
    public synchronized StoreFile open(String name) throws IOException {
        return new OpenFile(describe(name), existing(name));
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
        files.put(to, existing(from));
        files.remove(from);
    }

    @Override
    public synchronized void delete(String name) throws IOException {
        files.remove(name, existing(name));
    }

    @Override
    public synchronized void forceDirectory() {
        forcedFiles.clear();
        forcedFiles.putAll(files);
    }

    @Override
    public String describe(String name) {
        return "memory/" + name;
    }

    /** Does nothing, so that the storage can be opened again. */
    @Override
    public void close() {}

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
        public void force() {
            content.force();
        }

        @Override
        public MappedFile map() {
            return new Mapping(mapped(content).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN));
        }

        @Override
        public void close() {}
    }

    private record Mapping(ByteBuffer buffer) implements MappedFile {
        @Override
        public void unmap() {}
    }
}
