/**
 * The engine, which combines the other packages into a store.
 *
 * <p>{@link io.caravan.engine.Engine} is the store, and connects its components. A write enters through
 * {@code WritePath}. Under the store's lock, it requests admission from {@code HeapSpace} and adds a record to the
 * active commit of the {@code CommitQueue}, whose frame has its place in the log. The queue decides when the {@code
 * Flusher} swaps commits, writes and fsyncs the frame, and acknowledges the writes.
 *
 * <p>A read enters through {@code ReadPath}. It pins the list, waits until the list's last write is committed, and
 * reads values from the log or the heap. The {@code Checkpointer} publishes checkpoints: {@code LogEvacuation} moves
 * survivors from the log to the heap, so that older log segments are no longer needed. The {@code Provisioner} creates
 * log segments ahead of need, and {@code Recovery} rebuilds the state when a store is opened.
 *
 * <p>Lock order: the store's lock ({@code StoreState.lock}) is the only lock that is held while another lock is taken
 * ({@code LsnWatermark}'s lock never is). No I/O is done and no callback runs under the store's lock.
 */
@NullMarked
package io.caravan.engine;

import org.jspecify.annotations.NullMarked;
