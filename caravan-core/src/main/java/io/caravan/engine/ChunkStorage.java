package io.caravan.engine;

import io.caravan.Replica;
import io.caravan.io.FileTarget;
import io.caravan.io.MappedFile;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Sends all data written to files to a receiver, as chunks from which {@link io.caravan.SnapshotInstaller} recreates
 * the files elsewhere. Files are written one after another, each by one thread, and never read.
 *
 * <p>A chunk is little-endian. It starts with its kind, in one byte. The rest depends on the kind:
 *
 * <ul>
 *   <li>New file: the size to reserve for it, in eight bytes, and its name in UTF-8.
 *   <li>Content: the position in the file, in eight bytes, and the bytes.
 *   <li>End of file: eight bytes of zeros.
 * </ul>
 */
public final class ChunkStorage implements FileTarget {
    public static final byte NEW_FILE = 1;
    public static final byte CONTENT = 2;
    public static final byte END_OF_FILE = 3;
    public static final int HEAD_BYTES = 1 + Long.BYTES;

    private final Replica.Chunks receiver;
    private @Nullable String open;

    ChunkStorage(Replica.Chunks receiver) {
        this.receiver = receiver;
    }

    @Override
    public StoreFile create(String name, long bytes) throws IOException {
        if (open != null) {
            throw new IllegalStateException(open + " is still open");
        }
        byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
        receiver.receive(chunk(NEW_FILE, bytes, utf8.length).put(utf8).flip());
        open = name;
        return new SentFile(name + " as it is sent");
    }

    private static ByteBuffer chunk(byte kind, long number, int contentBytes) {
        return ByteBuffer.allocate(HEAD_BYTES + contentBytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(kind)
                .putLong(number);
    }

    /** Does nothing, because the receiver makes the names durable once it has all files. */
    @Override
    public void forceDirectory() {}

    /** A file whose writes are sent to the receiver as chunks. */
    private final class SentFile implements StoreFile {
        private final String path;

        SentFile(String path) {
            this.path = path;
        }

        @Override
        public String path() {
            return path;
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            receiver.receive(
                    chunk(CONTENT, position, source.remaining()).put(source).flip());
        }

        /** Does nothing, because the receiver fsyncs the file after its last chunk. */
        @Override
        public void force() {}

        @Override
        public void close() throws IOException {
            open = null;
            receiver.receive(chunk(END_OF_FILE, 0, 0).flip());
        }

        @Override
        public long size() {
            throw keepsNothing();
        }

        @Override
        public int read(ByteBuffer target, long position) {
            throw keepsNothing();
        }

        @Override
        public MappedFile map() {
            throw keepsNothing();
        }

        private UnsupportedOperationException keepsNothing() {
            return new UnsupportedOperationException(path + " can only be written");
        }
    }
}
