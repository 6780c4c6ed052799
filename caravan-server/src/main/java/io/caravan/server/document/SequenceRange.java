package io.caravan.server.document;

/**
 * Sequences from {@code from} up to, but not including, {@code to}.
 *
 * @param from the first one
 * @param to the one after the last
 */
public record SequenceRange(long from, long to) {
    public static final SequenceRange EMPTY = new SequenceRange(0, 0);

    public long count() {
        return Math.max(0, to - from);
    }
}
