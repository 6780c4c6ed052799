package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.index.ListIndex;
import io.caravan.inspect.SalvagedIndex.Partition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The lists that can still be read from a damaged checkpoint. A partition is intact if no section of it can be missing.
 *
 * <p>If the first part of a list is lost, the list may seem to begin at a later sequence. In this case, the checksums
 * of the list's entries, which include the sequences, do not match. The result is a loss, never a wrong value.
 */
final class DamagedCheckpoint implements CheckpointReader.Visitor {
    private final LongPredicate wanted;
    /** The parts of the partitions that were found. */
    final @Nullable Partition[] partitions = new Partition[ListIndex.PARTITIONS];
    /** The next sequence of each list, by list id. */
    private final Map<Long, Long> ends = new HashMap<>();

    private final BitSet damaged = new BitSet();
    /** The start LSN of the checkpoint, or 0 if the header is damaged. */
    final long startLsn;

    private int partition;
    private boolean afterDamage;
    /** The offset of the first byte that is in no section, or -1. */
    long firstDamage = -1;

    /** Reads those lists of a damaged checkpoint whose ids match the predicate. */
    DamagedCheckpoint(CheckpointReader reader, LongPredicate wanted) throws IOException {
        this.wanted = wanted;
        CheckpointHeader header = reader.damagedHeader();
        startLsn = header == null ? 0 : header.startLsn();
        reader.readDamaged(ListIndex.PARTITIONS, this);
        if (reader.cutOff() || partition < ListIndex.PARTITIONS - 1) {
            noteDamage(reader.fileBytes());
        }
        if (afterDamage) {
            damaged.set(partition, ListIndex.PARTITIONS);
        }
        // A list keeps its next sequence even if its last parts are lost.
        for (Partition found : partitions) {
            if (found != null) {
                found.lists().forEach((id, list) -> list.skipTo(ends.getOrDefault(id, 0L)));
            }
        }
    }

    boolean isWhole(int number) {
        return partitions[number] != null && !damaged.get(number);
    }

    @Override
    public void partition(int number, long captureLsn) {
        if (afterDamage) {
            damaged.set(Math.min(partition, number), Math.max(partition, number) + 1);
            afterDamage = false;
        }
        partition = number;
        if (partitions[number] == null) {
            partitions[number] = new Partition(captureLsn, new HashMap<>());
        }
    }

    @Override
    public void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
        Partition found = partitions[partition];
        if (found == null || ListIndex.partitionOf(id) != partition) {
            damaged.set(partition);
            return;
        }
        if (!wanted.test(id)) {
            return;
        }
        SalvagedList list = found.lists().computeIfAbsent(id, any -> new SalvagedList(creationLsn, first));
        for (int i = 0; i < count && list.next() < next; i++) {
            list.append(regions.getLong(at + i * Long.BYTES));
        }
        ends.put(id, next);
    }

    @Override
    public void damaged(CorruptStoreException damage) {
        noteDamage(damage.offset());
    }

    private void noteDamage(long offset) {
        afterDamage = true;
        firstDamage = firstDamage < 0 ? offset : firstDamage;
    }
}
