package io.caravan.bench.patterns;

import java.nio.ByteBuffer;

/** No file at all: copies from memory to memory, which no write can be faster than. */
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
