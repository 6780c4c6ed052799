package io.caravan;

/** One value of a list and its sequence. The array is not copied; two entries are equal only when they share it. */
public record Entry(long sequence, byte[] value) {}
