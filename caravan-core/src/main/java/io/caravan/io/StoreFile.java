package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** An open file. Several threads may read and write at different positions concurrently. */
public interface StoreFile extends AutoCloseable {
    /**
     * The size, in bytes, of the writes with which a new file should be filled. Linux caches a file in units as large
     * as the writes that created them, and fsyncs entire units. With units of 4 MiB, an fsync of one block took 1.5
     * times as long as with this size. With smaller units, writes of large frames are half as fast.
     */
    int CACHED_TOGETHER_BYTES = 64 << 10;

    /** Returns the file's path, for messages. */
    String path();

    long size() throws IOException;

    /** Reads until the buffer is full or the file ends. Returns the number of bytes read. */
    int read(ByteBuffer target, long position) throws IOException;

    /** Writes all remaining bytes. They are not durable before {@link #force()}. */
    void write(ByteBuffer source, long position) throws IOException;

    /** Fsyncs the file. When this returns, all bytes written before the call are durable, as is the file's new size. */
    void force() throws IOException;

    /**
     * Maps the entire file for reading. Later writes to the file are visible in the mapping. The mapping remains valid
     * after the file is closed.
     */
    MappedFile map() throws IOException;

    @Override
    void close() throws IOException;
}
