/**
 * The list index, which uses packed primitives to map ids to the sequences and regions of lists. The index exists only
 * in memory; the store's lock guards it.
 */
@NullMarked
package io.caravan.index;

import org.jspecify.annotations.NullMarked;
