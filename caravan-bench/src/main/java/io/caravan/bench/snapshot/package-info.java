/**
 * How fast an archive's snapshots are written and read, in memory: what the format takes of an upload's or a restore's
 * time, beside the SHA-256 that every byte of them gets anyway.
 */
@NullMarked
package io.caravan.bench.snapshot;

import org.jspecify.annotations.NullMarked;
