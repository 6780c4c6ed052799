package io.caravan.io;

import java.nio.ByteBuffer;

/** A file mapped into memory for reading. Writes to the file are visible in the memory at once. */
public interface MappedFile {
    /**
     * Returns the mapped memory as a little-endian buffer. It starts at file position 0 and extends at least to the end
     * of the bytes written so far. Use absolute access, because all callers share the buffer's position.
     */
    ByteBuffer buffer();

    /**
     * Copies bytes of the file, starting at {@code position}, to the target buffer, and advances that buffer's
     * position.
     *
     * @throws InternalError if the disk cannot read the bytes; the JVM reports read errors this way
     */
    default void copy(int position, ByteBuffer target, int bytes) {
        target.put(target.position(), buffer(), position, bytes);
        target.position(target.position() + bytes);
    }

    /**
     * Reads one of every 64 bytes, the length of a cache line. The processor loads the lines together, because no read
     * depends on another one.
     *
     * @throws InternalError if the disk cannot read the bytes
     */
    default void load(int position, int bytes) {
        ByteBuffer memory = buffer();
        int sum = 0;
        for (int at = position; at < position + bytes; at += 64) {
            sum += memory.get(at);
        }
        // Never true. Without a use of the sum, the compiler would omit the reads.
        if (sum == Integer.MIN_VALUE) {
            throw new IllegalStateException();
        }
    }

    /**
     * Unmaps the file: at once if the JVM supports this, otherwise when the buffer is garbage-collected. After this
     * call the buffer and its slices must not be used: before Java 22, an access may crash the process.
     */
    void unmap();
}
