/**
 * Every byte that Caravan puts on disk: layouts, checksums, magic numbers and versions. Bytes only, no I/O.
 *
 * <p>One class a structure, each opened by its picture, with offsets derived in a chain. {@code docs/FORMAT.md} says the
 * same in prose; a test holds the two together. All integers are little-endian.
 */
@NullMarked
package io.caravan.format;

import org.jspecify.annotations.NullMarked;
