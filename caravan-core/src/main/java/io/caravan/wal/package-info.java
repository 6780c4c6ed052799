/**
 * The write-ahead log: frames in preallocated segments that are recycled.
 *
 * <p>{@link io.caravan.wal.LogBuffer} builds a frame in memory. {@link io.caravan.wal.LogSegments} creates and recycles
 * the files and reads single entries. {@link io.caravan.wal.LogWriter} writes and fsyncs frames,
 * {@link io.caravan.wal.LogFrames} reads them back, and {@link io.caravan.wal.LogScanner} detects a torn tail.
 */
@NullMarked
package io.caravan.wal;

import org.jspecify.annotations.NullMarked;
