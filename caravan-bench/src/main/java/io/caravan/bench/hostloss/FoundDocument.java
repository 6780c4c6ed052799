package io.caravan.bench.hostloss;

import java.util.List;

/**
 * A document as read from a server.
 *
 * @param firstSequence of the first value
 * @param nextSequence sequence of the next value
 * @param values its values, in order
 */
record FoundDocument(long firstSequence, long nextSequence, List<byte[]> values) {

    @Override
    public String toString() {
        return "values from " + firstSequence + " to " + nextSequence + ", exclusive";
    }
}
