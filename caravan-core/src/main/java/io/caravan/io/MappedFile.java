package io.caravan.io;

import java.nio.ByteBuffer;

/** A file's bytes as memory, for reading. What is written to the file shows in it at once. */
public interface MappedFile {

    /**
     * The memory, little-endian, from position 0 to the end of what was written so far, or further. Use absolute access:
     * the position is shared.
     */
    ByteBuffer buffer();

    /**
     * Adds bytes from a position on to a buffer.
     *
     * @throws InternalError when the disk cannot read them: this is how the JVM reports it
     */
    default void copy(int position, ByteBuffer target, int bytes) {
        target.put(target.position(), buffer(), position, bytes);
        target.position(target.position() + bytes);
    }

    /**
     * Unmaps the file, at once if the JVM can do that, else when the buffer is collected as garbage. From this call on
     * nobody may use the buffer, or a slice of it: before Java 22 that may kill the process.
     */
    void unmap();
}
