package io.caravan.heap;

import io.caravan.format.Blocks;
import io.caravan.io.MappedFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;

/**
 * One mapped segment, and which of its slices were written since they were forced. Written by one thread, read by any,
 * forced by one.
 */
final class HeapSegment {
    private static final int MAX_SLICE_BYTES = 1 << 20;
    private static final int MIN_SLICES = 4;

    /** For messages. */
    final String path;

    final ByteBuffer readOnly;
    private final MappedFile mapping;
    private final ByteBuffer memory;
    private final int sliceBytes;
    /** No portion that is forced has more pages that were written, so that a force of the log need not wait long for it. */
    private final int portionPages;

    /** How many pages of each slice were written since it was forced: about, but never 0 if any was. */
    private final AtomicIntegerArray dirtyPages;

    HeapSegment(String path, MappedFile mapping) {
        this.path = path;
        this.mapping = mapping;
        this.memory = mapping.buffer();
        this.readOnly = memory.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
        this.sliceBytes = Math.min(MAX_SLICE_BYTES, memory.capacity() / MIN_SLICES);
        this.portionPages = Math.max(1, sliceBytes / Blocks.BLOCK_BYTES);
        this.dirtyPages = new AtomicIntegerArray((memory.capacity() - 1) / sliceBytes + 1);
    }

    void write(int offset, ByteBuffer source, int at, int bytes) {
        memory.put(offset, source, at, bytes);
        // Always, and after the bytes: whoever clears a mark and then forces has seen them.
        mark(offset, bytes);
    }

    /** Has all of it forced next time. */
    void markAll() {
        mark(0, memory.capacity());
    }

    private void mark(int offset, int bytes) {
        int pages = bytes / Blocks.BLOCK_BYTES + 1;
        for (int slice = offset / sliceBytes; slice <= (offset + bytes - 1) / sliceBytes; slice++) {
            dirtyPages.set(slice, Math.min(dirtyPages.get(slice) + pages, portionPages));
        }
    }

    /** Forces what was written, portion by portion; see {@link HeapFile#force}. */
    void force(IntConsumer afterBytes) throws IOException {
        int slice = 0;
        while (slice < dirtyPages.length()) {
            slice = dirtyPages.get(slice) == 0 ? slice + 1 : forcePortion(slice, afterBytes);
        }
    }

    /** A slice, with those behind it as far as few of their pages were written; returns the next. */
    private int forcePortion(int first, IntConsumer afterBytes) throws IOException {
        int last = first;
        int pages = 0;
        for (int slice = first; slice < dirtyPages.length(); slice++) {
            if (pages + dirtyPages.get(slice) > portionPages) {
                break;
            }
            // The mark goes before the force, so that a write during it is not forgotten.
            int written = dirtyPages.getAndSet(slice, 0);
            last = written == 0 ? last : slice;
            pages += written;
        }
        int from = first * sliceBytes;
        mapping.force(from, Math.min((last + 1) * sliceBytes, memory.capacity()) - from);
        afterBytes.accept(pages * Blocks.BLOCK_BYTES);
        return last + 1;
    }
}
