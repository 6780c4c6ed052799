/** Tools that inspect a store: reading, verification, salvage, and repair, which opening a store never does. */
@NullMarked
package io.caravan.inspect;

import org.jspecify.annotations.NullMarked;
