package io.caravan;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * Collects operations on one or several lists, which take effect together or not at all.
 *
 * <p>Expectations are checked first, against the state before the batch. Then the operations run in the given order. A
 * batch is a plain object: build it on one thread, pass it to {@link ListStore#write}, and do not change it afterwards.
 * The values are copied by {@code write}, not when they are added to the batch.
 */
public final class WriteBatch {

    /** One operation of a batch. */
    public sealed interface Operation permits Append, Trim, Delete {
        long id();
    }

    /** Appends {@code value} to the list. */
    public record Append(long id, byte[] value) implements Operation {}

    /** Trims the entries before {@code firstSequence}. */
    public record Trim(long id, long firstSequence) implements Operation {}

    /** Deletes the list. */
    public record Delete(long id) implements Operation {}

    /** The condition that the list's next sequence (0 for a missing list) is {@code nextSequence}. */
    public record Expectation(long id, long nextSequence) {}

    /** The value of {@link #flushDelayNanos()} for a batch that is flushed according to the store's policy. */
    public static final long BY_POLICY = -1;

    private final List<Operation> operations = new ArrayList<>();
    private final List<Expectation> expectations = new ArrayList<>();
    private Durability durability = Durability.SYNC;
    private long flushDelayNanos = BY_POLICY;

    private WriteBatch() {}

    /** Returns an empty batch. */
    public static WriteBatch create() {
        return new WriteBatch();
    }

    /** Adds an append of {@code value} to the list. */
    public WriteBatch append(long id, byte[] value) {
        operations.add(new Append(id, Objects.requireNonNull(value, "value")));
        return this;
    }

    /** Adds a trim of all entries of the list before {@code firstSequence}, which is zero or more. */
    public WriteBatch trimTo(long id, long firstSequence) {
        operations.add(new Trim(id, Arguments.notNegative(firstSequence, "firstSequence")));
        return this;
    }

    /** Adds a deletion of the list. */
    public WriteBatch delete(long id) {
        operations.add(new Delete(id));
        return this;
    }

    /**
     * Adds an expectation: the store rejects the entire batch unless the list's next sequence is {@code nextSequence},
     * which is zero or more.
     */
    public WriteBatch expect(long id, long nextSequence) {
        expectations.add(new Expectation(id, Arguments.notNegative(nextSequence, "nextSequence")));
        return this;
    }

    /**
     * Sets the durability level that the batch must reach before it is acknowledged. The default is the store's level.
     * A level that is stronger than the store's has no effect.
     *
     * <p>Batches of all levels keep their order: a crash loses only the last writes, and never a write that precedes a
     * surviving write. A batch is therefore as durable as the strongest batch acknowledged after it. It reaches full
     * durability at the latest with the next checkpoint or, in a {@link Durability#SYNC} store, when {@link
     * ListStore#flush()} returns.
     *
     * <p>A store in a replication group ({@link Replica}) commits every batch to the group before it acknowledges the
     * batch.
     */
    public WriteBatch durability(Durability level) {
        durability = Objects.requireNonNull(level, "level");
        return this;
    }

    /** Returns the requested durability level; {@link Durability#SYNC} if none was set. */
    public Durability durability() {
        return durability;
    }

    /**
     * Sets the maximum time that the batch waits for other batches to share its flush. Overrides the store's {@link
     * FlushPolicy}. A longer delay means fewer fsyncs and later acknowledgments.
     *
     * <p>Writes that share a flush wait for the shortest delay among them, counted from the first write. The flush
     * starts earlier if a read of one of the lists or a {@linkplain ListStore#flush() flush} is waiting for it, or if a
     * writer needs the space.
     *
     * @param delay from 0 to one minute
     */
    public WriteBatch flushDelay(Duration delay) {
        flushDelayNanos = FlushPolicy.nanos(delay);
        return this;
    }

    /** Returns the requested maximum flush delay, in nanoseconds; {@link #BY_POLICY} if none was set. */
    public long flushDelayNanos() {
        return flushDelayNanos;
    }

    /** Returns a read-only list of the batch's operations, in order. */
    public List<Operation> operations() {
        return Collections.unmodifiableList(operations);
    }

    /** Returns a read-only list of the batch's expectations. */
    public List<Expectation> expectations() {
        return Collections.unmodifiableList(expectations);
    }
}
