package io.caravan.inspect;

/**
 * The file, offset, and length of a stored value.
 *
 * @param inLog whether the value is in the log, where values stay until they have survived a checkpoint, rather than in
 *     the heap
 * @param file name of the segment's file
 * @param offset byte offset of the value's entry in the file; the entry begins with checksum and length; -1 if the
 *     region is damaged
 * @param length length of the value, in bytes
 */
public record ValueLocation(boolean inLog, String file, int offset, int length) {}
