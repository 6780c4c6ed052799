package io.caravan.bench.patterns;

import java.io.IOException;

/** An open file with one way to write it. */
interface Writer extends AutoCloseable {
    /** Makes one write of the size that the file was opened for. */
    void write() throws IOException;

    /** Returns when everything written is on the disk. */
    default void force() throws IOException {}

    /** Passes buffered bytes to the operating system. */
    default void flush() throws IOException {}

    @Override
    default void close() throws IOException {}
}
