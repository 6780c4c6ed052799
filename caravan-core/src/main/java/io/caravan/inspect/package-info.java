/** Tools that look into a store: verification. */
@NullMarked
package io.caravan.inspect;

import org.jspecify.annotations.NullMarked;
