package io.caravan.engine;

import io.caravan.format.EntryLayout;
import io.caravan.format.RecordLayout;
import io.caravan.heap.HeapFile;
import java.nio.ByteBuffer;

/** Copies the values of durable records to where they belong in the heap: the same code live and in recovery. */
final class HeapApplier implements RecordLayout.Visitor {
    private final HeapFile heapFile;

    HeapApplier(HeapFile heapFile) {
        this.heapFile = heapFile;
    }

    @Override
    public void append(long lsn, long id, long sequence, long address, ByteBuffer buffer, int entryAt, int length) {
        heapFile.write(address, buffer, entryAt, EntryLayout.entryBytes(length));
    }

    @Override
    public void trim(long lsn, long id, long firstSequence) {
        // The heap keeps values only; which of them are retained is the index's business.
    }

    @Override
    public void delete(long lsn, long id) {
        // As with a trim.
    }
}
