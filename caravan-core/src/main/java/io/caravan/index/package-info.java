/**
 * The list index, which maps ids to the sequences and regions of lists, in packed primitives. The index exists only in
 * memory; the store's lock guards it.
 */
@NullMarked
package io.caravan.index;

import org.jspecify.annotations.NullMarked;
