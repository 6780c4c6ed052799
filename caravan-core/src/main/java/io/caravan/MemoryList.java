package io.caravan;

import io.caravan.format.EntryLayout;
import java.util.ArrayDeque;
import java.util.Arrays;

/** One list of a {@link MemoryListStore}, which guards it: the retained values and where they start. */
final class MemoryList {
    private final ArrayDeque<byte[]> values = new ArrayDeque<>();
    private long firstSequence;
    private long bytes;
    private long heapBytes;

    long firstSequence() {
        return firstSequence;
    }

    long nextSequence() {
        return firstSequence + values.size();
    }

    /** Keeps the array itself, which nobody may write to any more. */
    long append(byte[] value) {
        long sequence = nextSequence();
        values.addLast(value);
        bytes += value.length;
        heapBytes += EntryLayout.entryBytes(value.length);
        return sequence;
    }

    long trim(long count) {
        return trimTo(firstSequence + Math.min(count, values.size()));
    }

    long trimTo(long sequence) {
        while (firstSequence < sequence && !values.isEmpty()) {
            int length = values.removeFirst().length;
            bytes -= length;
            heapBytes -= EntryLayout.entryBytes(length);
            firstSequence++;
        }
        return firstSequence;
    }

    /** What the retained values would take in a durable store's heap. */
    long heapBytes() {
        return heapBytes;
    }

    ListInfo info(long id) {
        return new ListInfo(id, firstSequence, nextSequence(), bytes);
    }

    /** The values from a retained sequence on, as they are now; from past the end, none. */
    byte[][] valuesFrom(long sequence) {
        byte[][] all = values.toArray(new byte[0][]);
        int skipped = (int) Math.min(sequence - firstSequence, all.length);
        return Arrays.copyOfRange(all, skipped, all.length);
    }
}
