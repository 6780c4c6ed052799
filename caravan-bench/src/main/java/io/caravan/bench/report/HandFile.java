package io.caravan.bench.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file that, like recycled log segments, is allocated before use: it is filled with zeros and fsynced. */
public final class HandFile implements AutoCloseable {
    private static final int CHUNK_BYTES = 1 << 20;

    private final FileChannel channel;

    public HandFile(Path path) throws IOException {
        channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** Grows the file to at least this size. */
    public void prepare(long bytes) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect(CHUNK_BYTES);
        for (long size = channel.size(); size < bytes; size += CHUNK_BYTES) {
            write(zeros.clear(), size);
        }
        channel.force(true);
    }

    public void write(ByteBuffer bytes, long position) throws IOException {
        long at = position;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
    }

    public void fsync() throws IOException {
        channel.force(false);
    }

    public MappedByteBuffer map(long bytes) throws IOException {
        return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
