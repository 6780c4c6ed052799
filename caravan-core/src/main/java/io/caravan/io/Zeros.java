package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Fills files with zeros, so that all of their space is really allocated. */
public final class Zeros {
    /**
     * Linux caches a file in units as large as the writes that made them, and the first change to a mapped page makes
     * its whole unit dirty. With units of 1 MiB that took three times as long as with these, and a checkpoint wrote 1
     * MiB for each changed page. With smaller units than these large frames are written at half the speed.
     */
    private static final int CHUNK_BYTES = 64 << 10;

    private Zeros() {}

    /** Writes zeros from one position to another, without forcing them. */
    public static void write(StoreFile file, long from, long to) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(to - from, CHUNK_BYTES));
        for (long position = from; position < to; position += zeros.limit()) {
            zeros.clear().limit((int) Math.min(zeros.capacity(), to - position));
            file.write(zeros, position);
        }
    }
}
