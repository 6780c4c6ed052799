package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.DocumentClient.Description;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;

/**
 * The state of a document that exists at two servers, and the sequence up to which both are identical.
 *
 * @param source the document's description at the source when it was last copied
 * @param targetId the document's id at the target
 * @param same the sequence up to which both have the same values
 */
record SyncState(Description source, long targetId, long same) {
    /** Whether a document in this state has been copied completely. */
    boolean isUpToDate(Description now) {
        return now.id() == source.id() && same == now.next() && isLike(source, now);
    }

    /** Whether two documents have the same range of sequences and the same attributes. */
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
