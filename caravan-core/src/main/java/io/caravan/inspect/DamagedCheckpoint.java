package io.caravan.inspect;

import io.caravan.CaravanException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointSections;
import io.caravan.format.CheckpointLayout;
import io.caravan.index.ListIndex;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * The lists that can still be read from a damaged checkpoint. A partition is intact if no section of it can be missing.
 *
 * <p>If the first part of a list is lost, the list may seem to begin at a later sequence. In this case, the checksums
 * of the list's entries, which include the sequences, do not match. The result is a loss, never a wrong value.
 */
final class DamagedCheckpoint implements CheckpointSections.Visitor {
    private final LongPredicate wanted;
    private final Map<Integer, Map<Long, SalvagedList>> found = new HashMap<>();
    /** The next sequence of each list, by list id. */
    private final Map<Long, Long> ends = new HashMap<>();

    private final long[] captureLsns = new long[ListIndex.PARTITIONS];
    private final BitSet damaged = new BitSet();
    private final BitSet seen = new BitSet();
    private int partition;
    private boolean afterDamage;
    private long firstDamage = -1;
    /** The start LSN of the checkpoint, or 0 if the header is damaged. */
    private long startLsn;

    private DamagedCheckpoint(LongPredicate wanted) {
        this.wanted = wanted;
    }

    /** Reads those lists of a damaged checkpoint whose ids match the predicate. */
    static DamagedCheckpoint read(StoreFile file, long number, LongPredicate wanted) throws IOException {
        DamagedCheckpoint checkpoint = new DamagedCheckpoint(wanted);
        new CheckpointSections(file, ListIndex.PARTITIONS, checkpoint).visit();
        checkpoint.complete(checkpoint.readHeader(file, number), file.size());
        return checkpoint;
    }

    /** Reads the checkpoint's header. Returns whether the file is shorter than the header states. */
    private boolean readHeader(StoreFile file, long number) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(CheckpointLayout.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        file.read(bytes, 0);
        try {
            startLsn =
                    CheckpointHeader.decode(bytes.flip(), number, file.path()).startLsn();
            return file.size() < bytes.getLong(CheckpointLayout.FILE_BYTES);
        } catch (CaravanException damaged) {
            return false;
        }
    }

    /** Returns the start LSN of the checkpoint, or 0 if the header is damaged. */
    long startLsn() {
        return startLsn;
    }

    /** Returns the offset of the first byte that is in no section, or -1. */
    long firstDamage() {
        return firstDamage;
    }

    boolean has(int number) {
        return seen.get(number);
    }

    boolean isWhole(int number) {
        return seen.get(number) && !damaged.get(number);
    }

    Map<Long, SalvagedList> lists(int number) {
        return found.getOrDefault(number, new HashMap<>());
    }

    long captureLsn(int number) {
        return captureLsns[number];
    }

    @Override
    public void partition(int number, long captureLsn) {
        if (afterDamage) {
            damaged.set(Math.min(partition, number), Math.max(partition, number) + 1);
            afterDamage = false;
        }
        partition = number;
        seen.set(number);
        captureLsns[number] = captureLsn;
    }

    @Override
    public void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
        if (ListIndex.partitionOf(id) != partition) {
            damaged.set(partition);
            return;
        }
        if (!wanted.test(id)) {
            return;
        }
        SalvagedList list = found.computeIfAbsent(partition, any -> new HashMap<>())
                .computeIfAbsent(id, any -> new SalvagedList(creationLsn, first));
        for (int i = 0; i < count && list.next() < next; i++) {
            list.append(regions.getLong(at + i * Long.BYTES));
        }
        ends.put(id, next);
    }

    @Override
    public void damaged(long offset, String problem) {
        afterDamage = true;
        firstDamage = firstDamage < 0 ? offset : firstDamage;
    }

    private void complete(boolean cutOff, long fileBytes) {
        if (cutOff || partition < ListIndex.PARTITIONS - 1) {
            damaged(fileBytes, "cut off");
        }
        if (afterDamage) {
            damaged.set(partition, ListIndex.PARTITIONS);
        }
        // A list keeps its next sequence even if its last parts are lost.
        found.values().forEach(lists -> lists.forEach((id, list) -> list.skipTo(ends.getOrDefault(id, 0L))));
    }
}
