/**
 * Loads a running server and measures how long each request waits: at a fixed rate, regardless of the answers ({@link
 * io.caravan.bench.load.OpenLoop}), or with the next request after each answer ({@link io.caravan.bench.load.ClosedLoop}).
 */
@NullMarked
package io.caravan.bench.load;

import org.jspecify.annotations.NullMarked;
