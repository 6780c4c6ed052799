/** Loads a running server at a fixed rate, regardless of its answers, and measures how long each request waits. */
@NullMarked
package io.caravan.bench.load;

import org.jspecify.annotations.NullMarked;
