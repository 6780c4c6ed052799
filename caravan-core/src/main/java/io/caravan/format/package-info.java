/**
 * Every byte that Caravan puts on disk: layouts, checksums, magic numbers and versions. Bytes only, no I/O.
 *
 * <p>Each structure has one class, which opens with a diagram and derives its offsets in a chain.
 * {@code docs/FORMAT.md} says the same in prose; a test compares the two. All integers are little-endian.
 */
@NullMarked
package io.caravan.format;

import org.jspecify.annotations.NullMarked;
