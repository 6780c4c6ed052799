package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A file's bytes as memory. Written bytes may reach the disk at any time, and are durable after {@link #force}. */
public interface MappedFile {

    /** The memory, little-endian, from position 0 to the file's size. Use absolute access: the position is shared. */
    ByteBuffer buffer();

    /** Returns when all bytes put so far from a position on are durable, so many of them. */
    void force(int from, int bytes) throws IOException;
}
