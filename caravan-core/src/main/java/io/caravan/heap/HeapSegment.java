package io.caravan.heap;

import io.caravan.format.Blocks;
import io.caravan.io.MappedFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;

/**
 * One mapped segment, and which of its slices were written since they were forced. Written by one thread, read by any,
 * forced by one.
 *
 * <p>References are counted: the heap file's own, and one while the segment is being forced. The last to be released
 * unmaps it.
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
    /** The most written pages that are forced together, so that a force of the log does not wait long. */
    private final int portionPages;

    /** About how many pages of each slice were written since it was forced; never 0 if any was. */
    private final AtomicIntegerArray dirtyPages;

    private final AtomicInteger references = new AtomicInteger(1);

    HeapSegment(String path, MappedFile mapping) {
        this.path = path;
        this.mapping = mapping;
        this.memory = mapping.buffer();
        this.readOnly = memory.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
        this.sliceBytes = Math.min(MAX_SLICE_BYTES, memory.capacity() / MIN_SLICES);
        this.portionPages = Math.max(1, sliceBytes / Blocks.BLOCK_BYTES);
        this.dirtyPages = new AtomicIntegerArray((memory.capacity() - 1) / sliceBytes + 1);
    }

    /** Adds a reference, unless the last was released already; returns whether it did. */
    boolean retain() {
        return references.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
    }

    void release() {
        if (references.decrementAndGet() == 0) {
            mapping.unmap();
        }
    }

    void write(int offset, ByteBuffer source, int at, int bytes) {
        memory.put(offset, source, at, bytes);
        // Always, and after the bytes: a force that clears the mark then sees them.
        mark(offset, bytes);
    }

    /** Makes the next force write all of it. */
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

    /** Forces a slice, and those behind it as long as few of their pages were written. Returns the next slice. */
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
