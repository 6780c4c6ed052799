package io.caravan.inspect;

/**
 * Where a value lies.
 *
 * @param inLog whether in the log, where values are until they have survived a checkpoint, and not in the heap
 * @param file name of the segment's file
 * @param offset of the value's entry in it, which begins with checksum and length; -1 when a damaged region names none
 * @param length bytes of the value
 */
public record Place(boolean inLog, String file, int offset, int length) {}
