/**
 * The list index: document id to the list's sequences and regions, in packed primitives. In memory only; the store's
 * lock guards it.
 */
@NullMarked
package io.caravan.index;

import org.jspecify.annotations.NullMarked;
