package io.caravan;

import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A write-only storage that passes all data written to its files to a sink, in pieces from which {@link
 * SnapshotInstaller} recreates the files elsewhere. Files are written one after another, each by one thread, and never
 * read.
 *
 * <p>A piece is little-endian. It starts with its kind, in one byte. The rest depends on the kind:
 *
 * <ul>
 *   <li>New file: the size to reserve for it, in eight bytes, and its name in UTF-8.
 *   <li>Content: the position in the file, in eight bytes, and the bytes.
 *   <li>End of file: eight bytes of zeros.
 * </ul>
 */
final class ChunkStorage implements Storage {
    static final byte NEW_FILE = 1;
    static final byte CONTENT = 2;
    static final byte END_OF_FILE = 3;
    static final int HEAD_BYTES = 1 + Long.BYTES;

    private final Replica.Pieces sink;
    private @Nullable String open;

    ChunkStorage(Replica.Pieces sink) {
        this.sink = sink;
    }

    @Override
    public StoreFile create(String name, long bytes) throws IOException {
        if (open != null) {
            throw new IllegalStateException(open + " is still open");
        }
        byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
        sink.take(piece(NEW_FILE, bytes, utf8.length).put(utf8).flip());
        open = name;
        return new SentFile(name);
    }

    private static ByteBuffer piece(byte kind, long number, int contentBytes) {
        return ByteBuffer.allocate(HEAD_BYTES + contentBytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(kind)
                .putLong(number);
    }

    /** Does nothing: the receiver makes the names durable once it has all files. */
    @Override
    public void forceDirectory() {}

    @Override
    public String describe(String name) {
        return name + " as it is sent";
    }

    @Override
    public void close() {}

    @Override
    public List<String> list() {
        throw keepsNothing();
    }

    @Override
    public long usableBytes() {
        throw keepsNothing();
    }

    @Override
    public UUID bootId() {
        throw keepsNothing();
    }

    @Override
    public StoreFile open(String name) {
        throw keepsNothing();
    }

    @Override
    public void rename(String from, String to) {
        throw keepsNothing();
    }

    @Override
    public void delete(String name) {
        throw keepsNothing();
    }

    private static UnsupportedOperationException keepsNothing() {
        return new UnsupportedOperationException("files that are sent are only written");
    }

    /** A file that sends every write as a piece. */
    private final class SentFile implements StoreFile {
        private final String name;

        SentFile(String name) {
            this.name = name;
        }

        @Override
        public String path() {
            return describe(name);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            sink.take(piece(CONTENT, position, source.remaining()).put(source).flip());
        }

        /** Does nothing: the receiver fsyncs the file after its last piece. */
        @Override
        public void force() {}

        @Override
        public void close() throws IOException {
            open = null;
            sink.take(piece(END_OF_FILE, 0, 0).flip());
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
    }
}
