package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** One open file. Several threads may read and write at positions of their own. */
public interface StoreFile extends AutoCloseable {

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

    /** Maps the whole file for reading and writing. The mapping outlives the file's closing. */
    MappedFile map() throws IOException;

    /** Maps the whole file so that writes go to private memory and never to the file. */
    MappedFile mapPrivately() throws IOException;

    @Override
    void close() throws IOException;
}
