package io.caravan.testing;

import io.caravan.WriteBatch;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Generates random operations. The same seed and model yield the same operations.
 *
 * <p>It uses the model to choose interesting arguments: the edges of existing lists, and expectations of which some
 * hold. Trims and deletions keep up with the appends, so that a run may have any length.
 */
public final class RandomOperations {

    /**
     * The limits on the list ids and the value sizes of the operations.
     *
     * @param lists the number of lists among which operations are distributed
     * @param maxValueBytes the maximum value length of the store
     * @param maxBatchBytes the maximum total size of the values in one batch, below the limit of the store
     */
    public record Shape(int lists, int maxValueBytes, int maxBatchBytes) {}

    private static final int SMALL_BYTES = 64;
    private static final int MAX_BATCH_OPERATIONS = 8;

    private final Random random;
    private final Shape shape;
    private final ModelLists model;
    private final NavigableMap<Integer, Supplier<Operation>> choices = new TreeMap<>();
    private int totalWeight;

    /** Creates a generator of operations for a store whose state the caller keeps equal to the model's. */
    public RandomOperations(long seed, Shape shape, ModelLists model) {
        this.random = new Random(seed);
        this.shape = shape;
        this.model = model;
        addWrites();
        addReads();
        addUpkeep();
    }

    private void addWrites() {
        add(300, () -> new Operation.Append(id(), value(random.nextInt(SMALL_BYTES))));
        add(60, () -> new Operation.AppendBuffer(id(), value(random.nextInt(SMALL_BYTES))));
        add(20, () -> new Operation.Append(id(), value(0)));
        add(40, () -> new Operation.Append(id(), value(random.nextInt(shape.maxValueBytes()))));
        add(5, () -> new Operation.Append(id(), value(shape.maxValueBytes())));
        add(5, () -> new Operation.Append(id(), value(shape.maxValueBytes() + 1)));
        add(60, () -> new Operation.Batch(batch()));
        add(30, () -> new Operation.Batch(expectingRightly(batch())));
        add(15, () -> new Operation.Batch(expectingWrongly(expectingRightly(batch()))));
        add(5, () -> new Operation.Batch(batch().append(id(), value(shape.maxValueBytes() + 1))));
        add(60, () -> new Operation.Trim(id(), random.nextInt(40)));
        add(5, () -> new Operation.Trim(id(), Long.MAX_VALUE));
        add(60, this::trimTo);
        add(20, () -> new Operation.Delete(id()));
    }

    private void addReads() {
        add(60, () -> new Operation.Get(id()));
        add(60, this::getFrom);
        add(40, () -> new Operation.Info(id()));
        add(5, Operation.ListAll::new);
    }

    private void addUpkeep() {
        add(8, () -> Operation.Upkeep.FLUSH);
        add(3, () -> Operation.Upkeep.CHECKPOINT);
        add(2, () -> Operation.Upkeep.REOPEN);
    }

    private void add(int weight, Supplier<Operation> choice) {
        totalWeight += weight;
        choices.put(totalWeight, choice);
    }

    /** Returns the next operation. */
    public Operation next() {
        return choices.higherEntry(random.nextInt(totalWeight)).getValue().get();
    }

    /**
     * Returns a random list id: low ids more often than high ones, so that some lists are long and some nearly empty. A
     * few ids are negative.
     */
    private long id() {
        long id = random.nextInt(1 + random.nextInt(shape.lists()));
        return id % 7 == 6 ? -id : id;
    }

    private byte[] value(int length) {
        byte[] value = new byte[length];
        random.nextBytes(value);
        return value;
    }

    private Operation trimTo() {
        long id = id();
        return new Operation.TrimTo(id, sequenceAround(id));
    }

    private Operation getFrom() {
        long id = id();
        return new Operation.GetFrom(id, sequenceAround(id));
    }

    /** Returns a random sequence, from just before the retained values to just past the end of the list. */
    private long sequenceAround(long id) {
        long first = Math.max(0, model.firstSequence(id) - 2);
        return first + random.nextInt((int) (model.nextSequence(id) - first) + 3);
    }

    private WriteBatch batch() {
        WriteBatch batch = WriteBatch.create();
        int roomBytes = shape.maxBatchBytes();
        for (int operations = random.nextInt(MAX_BATCH_OPERATIONS + 1); operations > 0; operations--) {
            roomBytes -= addOperation(batch, roomBytes);
        }
        return batch;
    }

    private int addOperation(WriteBatch batch, int roomBytes) {
        long id = id();
        int kind = random.nextInt(10);
        if (kind == 0) {
            batch.delete(id);
            return 0;
        }
        if (kind <= 2) {
            batch.trimTo(id, sequenceAround(id));
            return 0;
        }
        int bytes = Math.min(roomBytes, random.nextInt(kind == 3 ? shape.maxValueBytes() : SMALL_BYTES));
        batch.append(id, value(bytes));
        return bytes;
    }

    private WriteBatch expectingRightly(WriteBatch batch) {
        for (int expectations = 1 + random.nextInt(3); expectations > 0; expectations--) {
            long id = id();
            batch.expect(id, model.nextSequence(id));
        }
        return batch;
    }

    private WriteBatch expectingWrongly(WriteBatch batch) {
        long id = id();
        return batch.expect(id, model.nextSequence(id) + 1 + random.nextInt(3));
    }
}
