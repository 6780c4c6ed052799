/** Tools for the files of a store: reading, verification, salvage, and repair. Opening a store never repairs it. */
@NullMarked
package io.caravan.inspect;

import org.jspecify.annotations.NullMarked;
