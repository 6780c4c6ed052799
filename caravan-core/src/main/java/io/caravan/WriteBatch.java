package io.caravan;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * Operations over one or several lists that become durable together or not at all.
 *
 * <p>Expectations are checked first, against the state before the batch; then the operations are performed in the order
 * given. A batch is a plain value: build it on one thread, hand it to {@link ListStore#write}, do not change it
 * afterwards. Values are copied by {@code write}, not before.
 */
public final class WriteBatch {

    /** One operation of a batch. */
    public sealed interface Operation permits Append, Trim, Delete {
        long id();
    }

    /** Appends {@code value} to the list. */
    public record Append(long id, byte[] value) implements Operation {}

    /** Drops the entries before {@code firstSequence}. */
    public record Trim(long id, long firstSequence) implements Operation {}

    /** Deletes the list. */
    public record Delete(long id) implements Operation {}

    /** The batch is refused unless the list's next sequence is {@code nextSequence}; 0 for a missing list. */
    public record Expectation(long id, long nextSequence) {}

    /** What {@link #flushDelayNanos()} says of a batch that is flushed as the store's policy wants it. */
    public static final long BY_POLICY = -1;

    private final List<Operation> operations = new ArrayList<>();
    private final List<Expectation> expectations = new ArrayList<>();
    private Durability durability = Durability.SYNC;
    private long flushDelayNanos = BY_POLICY;

    private WriteBatch() {}

    /** An empty batch. */
    public static WriteBatch create() {
        return new WriteBatch();
    }

    /** Adds an append. */
    public WriteBatch append(long id, byte[] value) {
        operations.add(new Append(id, Objects.requireNonNull(value, "value")));
        return this;
    }

    /** Adds a trim of all entries before {@code firstSequence}, which is zero or more. */
    public WriteBatch trimTo(long id, long firstSequence) {
        operations.add(new Trim(id, Arguments.notNegative(firstSequence, "firstSequence")));
        return this;
    }

    /** Adds a deletion. */
    public WriteBatch delete(long id) {
        operations.add(new Delete(id));
        return this;
    }

    /** Refuses the whole batch unless the list's next sequence is {@code nextSequence}, zero or more. */
    public WriteBatch expect(long id, long nextSequence) {
        expectations.add(new Expectation(id, Arguments.notNegative(nextSequence, "nextSequence")));
        return this;
    }

    /**
     * How durable the batch shall be before it is acknowledged, where the store's own level is stronger; without this,
     * and at most, as durable as the store promises. The batch takes its place among the writes of every level all the
     * same: what a crash takes back are the last writes, never one before another that is kept. So a batch is as durable
     * as the strongest that was acknowledged after it, at the latest when the store has made a checkpoint or, if it is a
     * {@link Durability#SYNC} one, {@link ListStore#flush()} has returned. A store that belongs to a group
     * ({@link Replica}) commits every batch to the group before it acknowledges it.
     */
    public WriteBatch durability(Durability level) {
        durability = Objects.requireNonNull(level, "level");
        return this;
    }

    /** The level that was asked for; {@link Durability#SYNC} when none was. */
    public Durability durability() {
        return durability;
    }

    /**
     * How long the batch may wait for others to share its flush, in place of the store's {@link FlushPolicy}: fewer forces,
     * for a later acknowledgement. Writes that share a flush wait as long as the least patient of them, counted from the
     * first; and no longer than until somebody reads one of their lists, asks for a {@linkplain ListStore#flush() flush},
     * or needs the room.
     *
     * @param delay from 0 to one minute
     */
    public WriteBatch flushDelay(Duration delay) {
        flushDelayNanos = FlushPolicy.FixedDelay.nanos(delay);
        return this;
    }

    /** The delay that was asked for, in nanoseconds; {@link #BY_POLICY} when none was. */
    public long flushDelayNanos() {
        return flushDelayNanos;
    }

    /** The operations, in order; read-only. */
    public List<Operation> operations() {
        return Collections.unmodifiableList(operations);
    }

    /** The expectations; read-only. */
    public List<Expectation> expectations() {
        return Collections.unmodifiableList(expectations);
    }
}
