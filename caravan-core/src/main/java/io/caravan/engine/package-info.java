/**
 * The engine: how the pieces below work together.
 *
 * <p>A tour. {@link io.caravan.engine.Engine} is the store, and {@code StoreParts} wires its parts. A write enters
 * through {@code WritePath}, which, under the store's lock, asks {@code HeapSpace} for admission and lays a record into
 * the {@code CommitQueue}'s active commit, which has its place in the log. {@code FlushDemand} says
 * when the {@code Flusher} swaps commits, writes and forces the frame, and acknowledges it. A read goes through
 * {@code ReadPath}, which pins the list, waits until its last change is committed, and reads {@code Values} from the
 * log or the heap. The {@code Checkpointer} publishes {@code Checkpoints}: {@code Tenuring} moves what has survived
 * from the log to the heap, so that the log's older part is not needed any more. The {@code Provisioner} makes log
 * segments ahead of need, and {@code Recovery} puts it all together again.
 *
 * <p>Lock order: the store's lock ({@code StoreState.lock}) is the only one that is held while another is taken ({@code
 * LsnGate}'s never is). No I/O and no callback happens under it.
 */
@NullMarked
package io.caravan.engine;

import org.jspecify.annotations.NullMarked;
