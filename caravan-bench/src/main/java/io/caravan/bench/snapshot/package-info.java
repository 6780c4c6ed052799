/**
 * Measures how fast archive snapshots are written and read in memory: the format's share of the time of an upload or
 * restore, beside the SHA-256 that covers every byte anyway.
 */
@NullMarked
package io.caravan.bench.snapshot;

import org.jspecify.annotations.NullMarked;
