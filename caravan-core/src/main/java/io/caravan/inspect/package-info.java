/** Tools that look into a store: verification, and repair, which is never done by opening. */
@NullMarked
package io.caravan.inspect;

import org.jspecify.annotations.NullMarked;
