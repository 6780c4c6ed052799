/**
 * All on-disk structures of Caravan: layouts, checksums, magic numbers, and versions. Contains no I/O.
 *
 * <p>Each structure has one class, which starts with a diagram and derives each offset from the previous offset. {@code
 * docs/internals/file-format.md} describes the same structures in prose; a test compares the two. All integers are
 * little-endian.
 */
@NullMarked
package io.caravan.format;

import org.jspecify.annotations.NullMarked;
