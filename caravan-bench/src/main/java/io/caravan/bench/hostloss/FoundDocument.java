package io.caravan.bench.hostloss;

import java.util.List;

/**
 * A document as a server shows it.
 *
 * @param firstSequence of the first value
 * @param nextSequence that the next value would get
 * @param values that it holds, in order
 */
record FoundDocument(long firstSequence, long nextSequence, List<byte[]> values) {

    @Override
    public String toString() {
        return "values from " + firstSequence + " to before " + nextSequence;
    }
}
