package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** One open file. Several threads may read and write at positions of their own. */
public interface StoreFile extends AutoCloseable {
    /**
     * Files should be filled by writes of so many bytes. Linux caches a file in units as large as the writes that made
     * them, and forces a unit as a whole: in units of 4 MiB a force of one block took half as long again as in these,
     * and with smaller ones large frames are written at half the speed.
     */
    int CACHED_TOGETHER_BYTES = 64 << 10;

    /** The file's path, for messages. */
    String path();

    /** Its size in bytes. */
    long size() throws IOException;

    /** Reads until the buffer is full or the file ends. Returns the number of bytes read. */
    int read(ByteBuffer target, long position) throws IOException;

    /** Writes all remaining bytes; not durable before {@link #force()}. */
    void write(ByteBuffer source, long position) throws IOException;

    /** Returns when all bytes written so far are durable, and the size if the file grew. */
    void force() throws IOException;

    /** Maps the whole file for reading; what is written to it later shows too. The mapping outlives the file's closing. */
    MappedFile map() throws IOException;

    @Override
    void close() throws IOException;
}
