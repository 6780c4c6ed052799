/**
 * Puts load on a running server and measures the latency of each request: at a fixed rate, regardless of the replies
 * ({@link io.caravan.bench.load.OpenLoop}), or with the next request after each reply ({@link
 * io.caravan.bench.load.ClosedLoop}).
 */
@NullMarked
package io.caravan.bench.load;

import org.jspecify.annotations.NullMarked;
