/**
 * Compares the embedded engine with other stores and the machine's own limits.
 *
 * <p>This package reproduces the usual comparisons of embedded append-only stores: many small appends by one producer
 * that does not wait ({@link io.caravan.bench.engine.StreamedAppends}), writers that wait for each acknowledgment
 * ({@link io.caravan.bench.engine.WaitingWriters}), and reads of complete lists ({@link
 * io.caravan.bench.engine.ListReads}). It also measures large values ({@link io.caravan.bench.engine.LargeValues}).
 *
 * <p>Every row of a table states the guarantee that an acknowledgment gives. The tables also show the machine's
 * limits: the same bytes written and fsynced by hand, fsyncs of the disk, copies in memory, and wake-ups of threads.
 *
 * <p>A {@link io.caravan.bench.engine.Contestant} is one system at one durability level. A {@link
 * io.caravan.bench.engine.Contest} runs contestants one after another, in an order that changes from run to run, so
 * that disturbances affect all contestants equally.
 */
@NullMarked
package io.caravan.bench.engine;

import org.jspecify.annotations.NullMarked;
