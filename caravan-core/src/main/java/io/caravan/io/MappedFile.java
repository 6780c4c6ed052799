package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A file's bytes as memory. What is written may reach the disk at any time, and is durable after {@link #force}. */
public interface MappedFile {

    /** The memory, little-endian, from position 0 to the file's size. Use absolute access: the position is shared. */
    ByteBuffer buffer();

    /** Returns when everything written so far to a range of bytes is durable. */
    void force(int from, int bytes) throws IOException;

    /**
     * Unmaps the file, at once if the JVM can do that, else when the buffer is collected as garbage. From this call on
     * nobody may use the buffer, or a slice of it: before Java 22 that may kill the process.
     */
    void unmap();
}
