/** Collections of primitives that grow without copying all elements at once. */
@NullMarked
package io.caravan.collections;

import org.jspecify.annotations.NullMarked;
