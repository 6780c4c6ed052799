package io.caravan.bench.patterns;

import java.io.IOException;

/** An open file, and the one way in which it is written. */
interface Writer extends AutoCloseable {
    /** Writes once, as many bytes as it was opened for. */
    void write() throws IOException;

    /** Returns when all that was written is on the disk. */
    default void force() throws IOException {}

    /** Hands over to the operating system what this has held back. */
    default void flush() throws IOException {}

    @Override
    default void close() throws IOException {}
}
