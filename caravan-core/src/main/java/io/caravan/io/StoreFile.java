package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** An open file. Several threads may read and write at different positions concurrently. */
public interface StoreFile extends AutoCloseable {
    /**
     * The size of the writes with which a file should be filled. Linux caches a file in units as large as the writes
     * that created them, and fsyncs entire units. With units of 4 MiB, an fsync of one block took 1.5 times as long as
     * with this size. With smaller units, large frames are written at half the speed.
     */
    int CACHED_TOGETHER_BYTES = 64 << 10;

    /** Returns the file's path, for messages. */
    String path();

    long size() throws IOException;

    /** Reads until the buffer is full or the file ends. Returns the number of bytes read. */
    int read(ByteBuffer target, long position) throws IOException;

    /** Writes all remaining bytes. They are not durable before {@link #force()}. */
    void write(ByteBuffer source, long position) throws IOException;

    /** Fsyncs the file. When this returns, all bytes written before are durable, as is the size of a file that grew. */
    void force() throws IOException;

    /**
     * Maps the entire file for reading. Later writes to it are visible. The mapping remains valid after the file is
     * closed.
     */
    MappedFile map() throws IOException;

    @Override
    void close() throws IOException;
}
