package io.caravan.server.archive.push;

import java.util.List;

/**
 * The state of a document: its values, and the sequence of the first one.
 *
 * @param firstSequence the sequence of the first value
 */
record CrashState(long firstSequence, List<String> values) {
    CrashState {
        values = List.copyOf(values);
    }

    long nextSequence() {
        return firstSequence + values.size();
    }

    @Override
    public String toString() {
        return values.size() + " values from " + firstSequence + (values.isEmpty() ? "" : ", the last: " + last());
    }

    private String last() {
        return values.get(values.size() - 1).split(" ", 2)[0];
    }
}
