/**
 * The engine: how the pieces below work together.
 *
 * <p>A tour. {@link io.caravan.engine.Engine} is the store, {@code StoreParts} what it is made of. A write enters through {@code WritePath}, which under the
 * store's lock takes a region from {@code HeapSpace} and lays a record into the {@code CommitQueue}'s active buffer. The
 * {@code Flusher} swaps buffers, writes and forces the frame, acknowledges it, and copies its values into the heap file.
 * A read goes through {@code ReadPath}, which pins the list and waits until its last change is applied. The {@code
 * Checkpointer} makes the log's older part unnecessary, the {@code Provisioner} makes files ahead of need, and {@code
 * Recovery} puts it all together again.
 *
 * <p>Lock order: the store's lock ({@code StoreState.lock}) is the only one that is held while another is taken ({@code
 * LsnGate}'s never is). No I/O and no callback happens under it.
 */
@NullMarked
package io.caravan.engine;

import org.jspecify.annotations.NullMarked;
