/**
 * The engine: how the pieces below work together.
 *
 * <p>A tour. {@link io.caravan.engine.Engine} is the store, and {@code StoreParts} wires its parts. A write enters
 * through {@code WritePath}, which, under the store's lock, takes a region from {@code HeapSpace} and lays a record
 * into the {@code CommitQueue}'s active commit, for which {@code LogTail} finds a place in the log. {@code FlushDemand}
 * says when the {@code Flusher} swaps commits, writes and forces the frame, acknowledges it, and copies its values into
 * the heap file. A read goes through {@code ReadPath}, which pins the list and waits until its last change is applied.
 * The {@code Checkpointer} publishes {@code Checkpoints}, which make the log's older part unnecessary, the
 * {@code Provisioner} makes files ahead of need, and {@code Recovery} puts it all together again.
 *
 * <p>Lock order: the store's lock ({@code StoreState.lock}) is the only one that is held while another is taken ({@code
 * LsnGate}'s never is). No I/O and no callback happens under it.
 */
@NullMarked
package io.caravan.engine;

import org.jspecify.annotations.NullMarked;
