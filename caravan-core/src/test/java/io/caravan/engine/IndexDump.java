package io.caravan.engine;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import io.caravan.testing.Value;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** A recovered state with all addresses, to be compared with another one. */
record IndexDump(SortedMap<Long, ListDump> lists, long usedBytes) {

    /** One list: its positions, the regions of its entries, and their values. */
    record ListDump(long birth, long first, long next, List<Long> regions, List<Value> values) {}

    /** Returns the lists and their values without regions. */
    SortedMap<Long, ListDump> contents() {
        SortedMap<Long, ListDump> contents = new TreeMap<>(lists);
        contents.replaceAll(
                (id, list) -> new ListDump(list.birth(), list.first(), list.next(), List.of(), list.values()));
        return contents;
    }

    /** Replays this many times from one checkpoint and returns the last state. */
    static IndexDump replay(Storage storage, long checkpoint, int times) throws IOException {
        IndexDump dump = null;
        for (int i = 0; i < times; i++) {
            Recovery recovery = new Recovery(storage);
            try (CheckpointReader reader = new CheckpointReader(storage, checkpoint);
                    Recovered recovered =
                            recovery.recoverFrom(reader, reader.header().endLsn())) {
                dump = of(recovered);
            }
        }
        return dump;
    }

    private static IndexDump of(Recovered recovered) {
        ListIndex index = recovered.index();
        SortedMap<Long, ListDump> lists = new TreeMap<>();
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            index.forEachList(partition, list -> lists.put(index.id(list), of(recovered, list)));
        }
        return new IndexDump(lists, recovered.heap().usedBytes());
    }

    private static ListDump of(Recovered recovered, int list) {
        ListIndex index = recovered.index();
        int count = (int) (index.next(list) - index.first(list));
        long[] regions = new long[count];
        ListCursor cursor = new ListCursor();
        index.seek(list, index.first(list), cursor);
        index.copyRegions(cursor, regions, 0, count);
        List<Long> boxed = new ArrayList<>();
        List<Value> values = new ArrayList<>();
        Values stored = new Values(
                recovered.heapFile(), recovered.log(), () -> recovered.end().position());
        for (int i = 0; i < count; i++) {
            long sequence = index.first(list) + i;
            ByteBuffer value = stored.read(regions[i], index.id(list), index.birth(list), sequence);
            byte[] bytes = new byte[value.remaining()];
            value.get(bytes);
            boxed.add(regions[i]);
            values.add(Value.of(sequence, bytes));
        }
        return new ListDump(index.birth(list), index.first(list), index.next(list), boxed, values);
    }
}
