package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.testing.Value;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** Collects everything that a reader of the contents of a store reports. */
class FoundContents implements ContentsVisitor {
    final List<Long> checkpoints = new ArrayList<>();
    final SortedMap<Long, List<Value>> values = new TreeMap<>();
    final SortedMap<Long, List<Long>> sequences = new TreeMap<>();
    final List<Place> places = new ArrayList<>();
    final List<CorruptStoreException> damage = new ArrayList<>();
    int moves;

    @Override
    public void checkpoint(long number, String file, long startLsn, long endLsn, long lists, long entries) {
        checkpoints.add(number);
    }

    @Override
    public void list(long id, long first, long next, long count, long bytes) {
        values.computeIfAbsent(id, any -> new ArrayList<>());
        sequences.computeIfAbsent(id, any -> new ArrayList<>());
    }

    @Override
    public void entry(long id, long sequence, Place place) {
        sequences.get(id).add(sequence);
        places.add(place);
    }

    @Override
    public void value(long id, long sequence, Place place, ByteBuffer value) {
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        values.get(id).add(Value.of(sequence, bytes));
        places.add(place);
    }

    @Override
    public void damaged(CorruptStoreException problem) {
        damage.add(problem);
    }

    @Override
    public void moved(long id, long sequence) {
        moves++;
    }
}
