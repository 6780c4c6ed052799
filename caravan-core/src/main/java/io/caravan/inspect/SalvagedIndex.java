package io.caravan.inspect;

import io.caravan.SalvageReport.Loss;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The index of a damaged store, rebuilt from the remains of its checkpoints and log. If a record does not follow the
 * state of its list, the records in between are lost, and the replay continues.
 */
final class SalvagedIndex implements RecordLayout.Visitor {
    private final List<Map<Long, SalvagedList>> lists = new ArrayList<>();
    private final long[] captureLsns = new long[ListIndex.PARTITIONS];
    private final Consumer<Loss> losses;

    SalvagedIndex(Consumer<Loss> losses) {
        this.losses = losses;
        for (int i = 0; i < ListIndex.PARTITIONS; i++) {
            lists.add(new HashMap<>());
        }
    }

    /** Adds a partition that was read from a checkpoint. */
    void take(int partition, long captureLsn, Map<Long, SalvagedList> found) {
        lists.set(partition, found);
        captureLsns[partition] = captureLsn;
    }

    Map<Long, SalvagedList> partition(int number) {
        return lists.get(number);
    }

    long listCount() {
        return lists.stream().mapToLong(Map::size).sum();
    }

    private Map<Long, SalvagedList> listsWith(long id) {
        return lists.get(ListIndex.partitionOf(id));
    }

    private boolean contained(long lsn, long id) {
        return lsn < captureLsns[ListIndex.partitionOf(id)];
    }

    @Override
    public void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length) {
        SalvagedList list = listsWith(id).get(id);
        long region = Region.inLog(entryLsn, length);
        if (contained(lsn, id)) {
            // An entry that has moved to a damaged place in the heap may still be in the log.
            if (list != null && lsn >= list.creationLsn() && sequence >= list.first() && sequence < list.next()) {
                list.replace(sequence, region);
            }
            return;
        }
        if (list == null || sequence < list.next()) {
            list = restarted(lsn, id, sequence, list);
        }
        list.skipTo(sequence);
        list.append(region);
    }

    /** Starts a list with this record, in place of any list with this id. The list's first records may be lost. */
    private SalvagedList restarted(long lsn, long id, long sequence, @Nullable SalvagedList before) {
        if (before != null) {
            losses.accept(Loss.of("document " + id + ": the record at LSN " + lsn + " starts it again with sequence "
                    + sequence + ", and the record of its deletion is lost, so its " + before.count()
                    + " earlier values are dropped"));
        } else if (sequence > 0) {
            losses.accept(new Loss(
                    id, 0, sequence - 1, "were trimmed or are lost: no record before LSN " + lsn + " mentions them"));
        }
        SalvagedList list = new SalvagedList(sequence == 0 ? lsn : SalvagedList.UNKNOWN, sequence);
        listsWith(id).put(id, list);
        return list;
    }

    @Override
    public void trim(long lsn, long id, long firstSequence) {
        SalvagedList list = listsWith(id).get(id);
        if (list != null && !contained(lsn, id)) {
            list.trimTo(firstSequence);
        }
    }

    @Override
    public void delete(long lsn, long id) {
        if (!contained(lsn, id)) {
            listsWith(id).remove(id);
        }
    }
}
