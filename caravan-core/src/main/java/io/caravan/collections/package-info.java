/** Growable collections of primitives whose growth never copies everything at once. */
@NullMarked
package io.caravan.collections;

import org.jspecify.annotations.NullMarked;
