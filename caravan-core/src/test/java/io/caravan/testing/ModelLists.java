package io.caravan.testing;

import io.caravan.ListInfo;
import io.caravan.SequenceConflictException;
import io.caravan.TrimmedException;
import io.caravan.ValueTooLargeException;
import io.caravan.WriteBatch;
import io.caravan.format.EntryLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A model of a store that computes the expected results in the simplest way: a map from list id to a list of values.
 *
 * <p>It deliberately shares no code with any store. Not thread-safe.
 */
public final class ModelLists {

    /** A list of the model: its first sequence and its retained values. */
    private static final class Lane {
        long firstSequence;
        final List<byte[]> values = new ArrayList<>();

        long nextSequence() {
            return firstSequence + values.size();
        }

        Lane copy() {
            Lane copy = new Lane();
            copy.firstSequence = firstSequence;
            copy.values.addAll(values);
            return copy;
        }

        long bytes() {
            return values.stream().mapToLong(value -> value.length).sum();
        }
    }

    private final Map<Long, Lane> lanes = new HashMap<>();
    private final int maxValueBytes;

    /** Creates a model of a store with this maximum value length. */
    public ModelLists(int maxValueBytes) {
        this.maxValueBytes = maxValueBytes;
    }

    /** Returns an independent model in the same state. */
    public ModelLists copy() {
        ModelLists copy = new ModelLists(maxValueBytes);
        lanes.forEach((id, lane) -> copy.lanes.put(id, lane.copy()));
        return copy;
    }

    public Outcome append(long id, byte[] value) {
        return isTooLarge(value) ? tooLarge(value) : new Outcome.Written(add(id, value));
    }

    private boolean isTooLarge(byte[] value) {
        return value.length > maxValueBytes;
    }

    private Outcome tooLarge(byte[] value) {
        return Outcome.Rejected.of(new ValueTooLargeException("value", value.length, maxValueBytes));
    }

    private long add(long id, byte[] value) {
        Lane lane = lanes.computeIfAbsent(id, missing -> new Lane());
        lane.values.add(value.clone());
        return lane.nextSequence() - 1;
    }

    /** Performs either all operations of the batch or, if one of them must be rejected, none. */
    public Outcome write(WriteBatch batch) {
        Outcome rejection = rejection(batch);
        return rejection != null ? rejection : new Outcome.Written(performAll(batch));
    }

    private @Nullable Outcome rejection(WriteBatch batch) {
        for (WriteBatch.Operation operation : batch.operations()) {
            if (operation instanceof WriteBatch.Append append && isTooLarge(append.value())) {
                return tooLarge(append.value());
            }
        }
        for (WriteBatch.Expectation expected : batch.expectations()) {
            long actual = nextSequence(expected.id());
            if (actual != expected.nextSequence()) {
                return Outcome.Rejected.of(
                        new SequenceConflictException(expected.id(), expected.nextSequence(), actual));
            }
        }
        return null;
    }

    private long performAll(WriteBatch batch) {
        long last = -1;
        for (WriteBatch.Operation operation : batch.operations()) {
            if (operation instanceof WriteBatch.Append append) {
                last = add(append.id(), append.value());
            } else if (operation instanceof WriteBatch.Trim trim) {
                trimTo(trim.id(), trim.firstSequence());
            } else {
                delete(operation.id());
            }
        }
        return last;
    }

    public Outcome trim(long id, long count) {
        Lane lane = lanes.get(id);
        return lane == null ? new Outcome.Written(0) : drop(lane, Math.min(count, lane.values.size()));
    }

    public Outcome trimTo(long id, long firstSequence) {
        Lane lane = lanes.get(id);
        if (lane == null) {
            return new Outcome.Written(0);
        }
        long count = Math.max(0, firstSequence - lane.firstSequence);
        return drop(lane, Math.min(count, lane.values.size()));
    }

    private static Outcome drop(Lane lane, long count) {
        lane.values.subList(0, (int) count).clear();
        lane.firstSequence += count;
        return new Outcome.Written(lane.firstSequence);
    }

    public Outcome delete(long id) {
        lanes.remove(id);
        return new Outcome.Written(-1);
    }

    public Outcome get(long id) {
        return new Outcome.Streamed(values(id, firstSequence(id)));
    }

    public Outcome get(long id, long fromSequence) {
        return fromSequence < firstSequence(id)
                ? Outcome.Rejected.of(new TrimmedException(id, fromSequence, firstSequence(id)))
                : new Outcome.Streamed(values(id, fromSequence));
    }

    private List<Value> values(long id, long fromSequence) {
        List<Value> values = new ArrayList<>();
        for (long sequence = fromSequence; sequence < nextSequence(id); sequence++) {
            values.add(Value.of(sequence, lanes.get(id).values.get((int) (sequence - firstSequence(id)))));
        }
        return values;
    }

    public Outcome info(long id) {
        return new Outcome.Info(lanes.containsKey(id) ? infoOf(id) : null);
    }

    private ListInfo infoOf(long id) {
        return new ListInfo(
                id, firstSequence(id), nextSequence(id), lanes.get(id).bytes());
    }

    public Outcome list() {
        return new Outcome.Listed(ids());
    }

    /** Returns the ids of the existing lists. */
    public Set<Long> ids() {
        return Set.copyOf(lanes.keySet());
    }

    /** Whether the list exists. */
    public boolean contains(long id) {
        return lanes.containsKey(id);
    }

    /** Returns the first retained sequence; 0 for a missing list. */
    public long firstSequence(long id) {
        Lane lane = lanes.get(id);
        return lane == null ? 0 : lane.firstSequence;
    }

    /** Returns the sequence of the next append; 0 for a missing list. */
    public long nextSequence(long id) {
        Lane lane = lanes.get(id);
        return lane == null ? 0 : lane.nextSequence();
    }

    /** Returns the number of bytes that the retained values take in a heap. */
    public long heapBytes() {
        return lanes.values().stream()
                .flatMap(lane -> lane.values.stream())
                .mapToLong(value -> EntryLayout.entryBytes(value.length))
                .sum();
    }

    /** Returns the contents that a store in the state of this model would report. */
    public StoreContents contents() {
        SortedMap<Long, StoreContents.ListContents> lists = new TreeMap<>();
        for (long id : lanes.keySet()) {
            lists.put(id, new StoreContents.ListContents(infoOf(id), values(id, firstSequence(id))));
        }
        return new StoreContents(lists);
    }
}
