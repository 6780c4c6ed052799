package io.caravan.inspect;

import static io.caravan.format.CheckpointLayout.HEADER_BYTES;
import static io.caravan.format.CheckpointLayout.MAX_PAYLOAD_BYTES;
import static io.caravan.format.CheckpointLayout.NUMBER_LIMIT;
import static io.caravan.format.CheckpointLayout.PIECE_BIRTH;
import static io.caravan.format.CheckpointLayout.PIECE_ENTRIES;
import static io.caravan.format.CheckpointLayout.PIECE_FIRST;
import static io.caravan.format.CheckpointLayout.PIECE_HEADER_BYTES;
import static io.caravan.format.CheckpointLayout.PIECE_ID;
import static io.caravan.format.CheckpointLayout.PIECE_NEXT;
import static io.caravan.format.CheckpointLayout.SECTION_CAPTURE_LSN;
import static io.caravan.format.CheckpointLayout.SECTION_CRC;
import static io.caravan.format.CheckpointLayout.SECTION_HEADER_BYTES;
import static io.caravan.format.CheckpointLayout.SECTION_PARTITION;
import static io.caravan.format.CheckpointLayout.SECTION_PAYLOAD_BYTES;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.Checksums;
import io.caravan.index.ListIndex;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;

/**
 * Every section of a checkpoint whose checksum is right, wherever it is. A partition is whole when nothing around its
 * sections is missing. A section is in memory at a time.
 */
final class DamagedSections {
    private static final int WINDOW_BYTES = 1 << 20;
    private static final int MAX_SECTION_BYTES = SECTION_HEADER_BYTES + MAX_PAYLOAD_BYTES;
    private static final int ALIGNMENT = 8;

    /** Takes what is left of a checkpoint, in the order in which it was written. */
    interface Visitor extends CheckpointReader.Visitor {
        /** From this offset of the file on are bytes that are in no section. */
        void damaged(long offset);
    }

    private final StoreFile file;
    private final Visitor visitor;
    /** Tells partitions by id. */
    private final ListIndex partitions = new ListIndex();

    private final ByteBuffer window =
            ByteBuffer.allocate(WINDOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private long windowAt;
    private final long[] captureLsns = new long[ListIndex.PARTITIONS];
    private final BitSet damaged = new BitSet();
    private final BitSet seen = new BitSet();
    private int lastPartition;
    private boolean afterDamage;
    private long firstDamage = -1;

    private DamagedSections(StoreFile file, Visitor visitor) {
        this.file = file;
        this.visitor = visitor;
    }

    static DamagedSections read(StoreFile file, Visitor visitor) throws IOException {
        DamagedSections sections = new DamagedSections(file, visitor);
        sections.readAll();
        return sections;
    }

    /** Offset of the first byte that is in no section, or -1. */
    long firstDamage() {
        return firstDamage;
    }

    boolean has(int partition) {
        return seen.get(partition);
    }

    boolean isWhole(int partition) {
        return seen.get(partition) && !damaged.get(partition);
    }

    long captureLsn(int partition) {
        return captureLsns[partition];
    }

    private void readAll() throws IOException {
        long size = file.size();
        long at = HEADER_BYTES;
        while (at < size) {
            int bytes = sectionAt(at);
            if (bytes > 0) {
                section((int) (at - windowAt), bytes);
                at += bytes;
            } else {
                noteDamage(at);
                at += ALIGNMENT;
            }
        }
        boolean cutOff = lastPartition < ListIndex.PARTITIONS - 1;
        if (cutOff) {
            noteDamage(size);
        }
        if (afterDamage) {
            damaged.set(lastPartition, ListIndex.PARTITIONS);
        }
    }

    private void noteDamage(long at) {
        if (!afterDamage) {
            visitor.damaged(at);
        }
        afterDamage = true;
        firstDamage = firstDamage < 0 ? at : firstDamage;
    }

    /** Length of the section at this position of the file, which is in the window then; 0 when there is none. */
    private int sectionAt(long at) throws IOException {
        if (at < windowAt || at + MAX_SECTION_BYTES > windowAt + window.limit()) {
            windowAt = at;
            file.read(window.clear(), at);
            window.flip();
        }
        int start = (int) (at - windowAt);
        if (window.limit() - start < SECTION_HEADER_BYTES) {
            return 0;
        }
        int payload = window.getInt(start + SECTION_PAYLOAD_BYTES);
        int partition = window.getInt(start + SECTION_PARTITION);
        if (payload < 0
                || payload > Math.min(MAX_PAYLOAD_BYTES, window.limit() - start - SECTION_HEADER_BYTES)
                || partition < 0
                || partition >= ListIndex.PARTITIONS) {
            return 0;
        }
        int bytes = SECTION_HEADER_BYTES + payload;
        int sum = Checksums.crc32c(window, start + SECTION_PAYLOAD_BYTES, bytes - SECTION_PAYLOAD_BYTES);
        return window.getInt(start + SECTION_CRC) == sum ? bytes : 0;
    }

    private void section(int start, int bytes) {
        int partition = window.getInt(start + SECTION_PARTITION);
        if (afterDamage) {
            damaged.set(Math.min(lastPartition, partition), Math.max(lastPartition, partition) + 1);
            afterDamage = false;
        }
        lastPartition = partition;
        seen.set(partition);
        captureLsns[partition] = window.getLong(start + SECTION_CAPTURE_LSN);
        visitor.partition(partition, captureLsns[partition]);
        int end = start + bytes;
        int at = start + SECTION_HEADER_BYTES;
        while (at + PIECE_HEADER_BYTES <= end) {
            long count = window.getLong(at + PIECE_ENTRIES);
            if (count < 0 || count > (end - at - PIECE_HEADER_BYTES) / Long.BYTES) {
                damaged.set(partition);
                return;
            }
            piece(partition, at, (int) count);
            at += PIECE_HEADER_BYTES + (int) count * Long.BYTES;
        }
    }

    private void piece(int partition, int at, int count) {
        long id = window.getLong(at + PIECE_ID);
        long first = window.getLong(at + PIECE_FIRST);
        long next = window.getLong(at + PIECE_NEXT);
        if (partitions.partitionOf(id) != partition || first < 0 || next < first || next >= NUMBER_LIMIT) {
            damaged.set(partition);
            return;
        }
        visitor.piece(id, window.getLong(at + PIECE_BIRTH), first, next, window, at + PIECE_HEADER_BYTES, count);
    }
}
