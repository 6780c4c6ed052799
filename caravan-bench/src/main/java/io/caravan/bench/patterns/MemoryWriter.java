package io.caravan.bench.patterns;

import java.nio.ByteBuffer;

/** Copies from memory to memory without a file: the upper bound of any write. */
final class MemoryWriter implements Writer {
    private final ByteBuffer memory;
    private final byte[] bytes;

    MemoryWriter(int limitBytes, int writeBytes) {
        memory = ByteBuffer.allocateDirect(limitBytes);
        bytes = SomeBytes.array(writeBytes);
    }

    @Override
    public void write() {
        memory.put(bytes);
    }
}
