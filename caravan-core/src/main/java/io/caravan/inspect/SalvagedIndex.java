package io.caravan.inspect;

import io.caravan.SalvageReport.Loss;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The index of a damaged store, or some of its lists, rebuilt from the remains of its checkpoints and log. If a record
 * does not follow the state of its list, the records in between are lost, and the replay continues.
 */
class SalvagedIndex implements RecordLayout.Visitor {
    final Partition[] partitions = new Partition[ListIndex.PARTITIONS];
    private final LongPredicate wanted;
    private final Consumer<Loss> losses;

    /** The known lists of a partition of the index, and the LSN up to which they reflect the log. */
    record Partition(long captureLsn, Map<Long, SalvagedList> lists) {}

    /** Creates an empty index, which ignores the records of lists whose ids do not match the predicate. */
    SalvagedIndex(LongPredicate wanted, Consumer<Loss> losses) {
        this.wanted = wanted;
        this.losses = losses;
        Arrays.setAll(partitions, any -> new Partition(0, new HashMap<>()));
    }

    private Map<Long, SalvagedList> listsWith(long id) {
        return partitions[ListIndex.partitionOf(id)].lists();
    }

    /** Whether the index already reflects the record with this LSN, or need not. */
    private boolean contained(long lsn, long id) {
        return !wanted.test(id) || lsn < partitions[ListIndex.partitionOf(id)].captureLsn();
    }

    @Override
    public void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length) {
        SalvagedList list = listsWith(id).get(id);
        long region = Region.inLog(entryLsn, length);
        if (contained(lsn, id)) {
            // An entry that has moved to a damaged place in the heap may still be in the log.
            if (list != null && lsn >= list.creationLsn && sequence >= list.first() && sequence < list.next()) {
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
