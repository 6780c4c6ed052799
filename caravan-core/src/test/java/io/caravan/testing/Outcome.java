package io.caravan.testing;

import io.caravan.CaravanException;
import io.caravan.ListInfo;
import io.caravan.SequenceConflictException;
import io.caravan.TrimmedException;
import io.caravan.ValueTooLargeException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The outcome of an operation, which must be equal for a store and its model. */
public sealed interface Outcome {

    /** The outcome of a write that was accepted, and whose callback reported success with this sequence. */
    record Written(long sequence) implements Outcome {}

    /** The outcome of an operation that threw an exception. The numbers are the fields of the exception. */
    record Rejected(String exception, List<Long> numbers) implements Outcome {

        public static Rejected of(CaravanException rejection) {
            return new Rejected(rejection.getClass().getSimpleName(), numbers(rejection));
        }

        private static List<Long> numbers(CaravanException rejection) {
            if (rejection instanceof SequenceConflictException conflict) {
                return List.of(conflict.id(), conflict.expected(), conflict.actual());
            }
            if (rejection instanceof TrimmedException trimmed) {
                return List.of(trimmed.firstSequence());
            }
            if (rejection instanceof ValueTooLargeException tooLarge) {
                return List.of(tooLarge.bytes(), tooLarge.limitBytes());
            }
            return List.of();
        }
    }

    /** The outcome of a read that reached the end of its entries. */
    record Streamed(List<Value> values) implements Outcome {}

    /** The outcome of a call to {@link io.caravan.ListStore#info}. */
    record Info(@Nullable ListInfo info) implements Outcome {}

    /** The ids of the existing lists. */
    record Listed(Set<Long> ids) implements Outcome {}

    /** The outcome of an operation that is done and has no result. */
    record Done() implements Outcome {}
}
