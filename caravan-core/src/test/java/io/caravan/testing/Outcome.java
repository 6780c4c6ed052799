package io.caravan.testing;

import io.caravan.CaravanException;
import io.caravan.ListInfo;
import io.caravan.SequenceConflictException;
import io.caravan.TrimmedException;
import io.caravan.ValueTooLargeException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an operation comes to; equal for a store and its model when the store is right. */
public sealed interface Outcome {

    /** A write was accepted, and its callback was told of success with this sequence. */
    record Written(long sequence) implements Outcome {}

    /** The operation threw. The numbers are what the exception tells apart from its message. */
    record Refused(String exception, List<Long> numbers) implements Outcome {

        public static Refused of(CaravanException refusal) {
            return new Refused(refusal.getClass().getSimpleName(), numbers(refusal));
        }

        private static List<Long> numbers(CaravanException refusal) {
            if (refusal instanceof SequenceConflictException conflict) {
                return List.of(conflict.id(), conflict.expected(), conflict.actual());
            }
            if (refusal instanceof TrimmedException trimmed) {
                return List.of(trimmed.firstSequence());
            }
            if (refusal instanceof ValueTooLargeException tooLarge) {
                return List.of(tooLarge.bytes(), tooLarge.limitBytes());
            }
            return List.of();
        }
    }

    /** A read came to its end. */
    record Streamed(List<Value> values) implements Outcome {}

    /** What {@link io.caravan.ListStore#info} said. */
    record Told(@Nullable ListInfo info) implements Outcome {}

    /** The lists that there are. */
    record Listed(Set<Long> ids) implements Outcome {}

    /** It is done, and there is nothing to tell. */
    record Done() implements Outcome {}
}
