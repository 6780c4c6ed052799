package io.caravan.inspect;

/**
 * The place of a value.
 *
 * @param inLog whether the value is in the log, where values stay until they have survived a checkpoint, rather than in
 *     the heap
 * @param file name of the segment's file
 * @param offset of the value's entry in it, which begins with checksum and length; -1 if a damaged region names none
 * @param length bytes of the value
 */
public record Place(boolean inLog, String file, int offset, int length) {}
