package io.caravan;

/**
 * A value of a list and the value's sequence. The array is not copied, so two entries are equal only if they share the
 * array.
 */
public record Entry(long sequence, byte[] value) {}
