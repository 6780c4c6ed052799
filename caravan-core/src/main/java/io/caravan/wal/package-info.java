/**
 * The write-ahead log: frames in rotating, preallocated, recycled segments.
 *
 * <p>{@link io.caravan.wal.LogBuffer} is where a frame is put together in memory, {@link io.caravan.wal.LogSegments}
 * makes and recycles the files and reads single entries, {@link io.caravan.wal.LogWriter} writes and forces frames,
 * {@link io.caravan.wal.LogFrames} reads them back, and {@link io.caravan.wal.LogScanner} decides what is a torn tail.
 */
@NullMarked
package io.caravan.wal;

import org.jspecify.annotations.NullMarked;
