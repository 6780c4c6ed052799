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

import io.caravan.format.Checksums;
import io.caravan.index.ListIndex;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * What is left of a checkpoint: every section whose checksum is right, wherever it is. A partition is whole when nothing
 * around its sections is missing.
 *
 * <p>A list whose first part is lost may seem to begin later than it does. Its entries' checksums, which have their
 * sequences in them, then do not check, so that is a loss and never a wrong value.
 */
final class DamagedCheckpoint {
    private static final int WINDOW_BYTES = 1 << 20;
    private static final int MAX_SECTION_BYTES = SECTION_HEADER_BYTES + MAX_PAYLOAD_BYTES;
    private static final int ALIGNMENT = 8;

    private final StoreFile file;
    private final SalvagedIndex index;
    private final ByteBuffer window =
            ByteBuffer.allocate(WINDOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private long windowAt;
    private final Map<Integer, Map<Long, SalvagedList>> found = new HashMap<>();
    /** The next sequence of each list. */
    private final Map<Long, Long> ends = new HashMap<>();

    private final long[] captureLsns = new long[ListIndex.PARTITIONS];
    private final BitSet damaged = new BitSet();
    private final BitSet seen = new BitSet();
    private int lastPartition;
    private boolean afterDamage;
    private long firstDamage = -1;

    private DamagedCheckpoint(StoreFile file, SalvagedIndex index) {
        this.file = file;
        this.index = index;
    }

    static DamagedCheckpoint read(StoreFile file, SalvagedIndex index) throws IOException {
        DamagedCheckpoint checkpoint = new DamagedCheckpoint(file, index);
        checkpoint.readSections();
        return checkpoint;
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

    Map<Long, SalvagedList> lists(int partition) {
        return found.getOrDefault(partition, new HashMap<>());
    }

    long captureLsn(int partition) {
        return captureLsns[partition];
    }

    private void readSections() throws IOException {
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
        if (!index.belongs(id, partition) || first < 0 || next < first || next >= NUMBER_LIMIT) {
            damaged.set(partition);
            return;
        }
        SalvagedList list = found.computeIfAbsent(partition, any -> new HashMap<>())
                .computeIfAbsent(id, any -> new SalvagedList(window.getLong(at + PIECE_BIRTH), first));
        for (int i = 0; i < count && list.next() < next; i++) {
            list.append(window.getLong(at + PIECE_HEADER_BYTES + i * Long.BYTES));
        }
        ends.put(id, next);
    }

    /** Lists of which parts are lost have their sequences all the same. */
    void completeLists() {
        found.values().forEach(lists -> lists.forEach((id, list) -> list.skipTo(ends.getOrDefault(id, 0L))));
        ends.clear();
    }
}
