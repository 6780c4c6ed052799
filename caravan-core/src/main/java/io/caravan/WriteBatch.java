package io.caravan;

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

    private final List<Operation> operations = new ArrayList<>();
    private final List<Expectation> expectations = new ArrayList<>();

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

    /** The operations, in order; read-only. */
    public List<Operation> operations() {
        return Collections.unmodifiableList(operations);
    }

    /** The expectations; read-only. */
    public List<Expectation> expectations() {
        return Collections.unmodifiableList(expectations);
    }
}
