package io.caravan.server.document;

/**
 * The sequences from {@code from}, inclusive, to {@code to}, exclusive.
 *
 * @param from the first sequence
 * @param to the sequence after the last one
 */
public record SequenceRange(long from, long to) {
    public static final SequenceRange EMPTY = new SequenceRange(0, 0);

    public long count() {
        return Math.max(0, to - from);
    }
}
