package io.caravan.server.cli.carry;

import io.caravan.server.cli.client.Carrier.Description;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;

/**
 * A document that two servers have, as far as it was found to be the same.
 *
 * @param source what it was at the one when it was last brought to the other
 * @param targetId its id at the other
 * @param same the sequence up to which both were found to have the same values
 */
record Twin(Description source, long targetId, long same) {
    /** Whether there is nothing to bring of a document that is now as described. */
    boolean isUpToDate(Description now) {
        return now.id() == source.id() && same == now.next() && isLike(source, now);
    }

    /** Whether two documents have values of the same sequences, and are the same beside them. */
    static boolean isLike(Description one, Description other) {
        return one.first() == other.first()
                && one.next() == other.next()
                && isAlike(one.attributes(), other.attributes());
    }

    private static boolean isAlike(Map<String, Object> one, Map<String, Object> other) {
        return one.keySet().equals(other.keySet())
                && one.entrySet().stream()
                        .allMatch(attribute -> Arrays.equals(
                                Description.encoded(attribute.getValue()),
                                Description.encoded(Objects.requireNonNull(other.get(attribute.getKey())))));
    }
}
