/**
 * How late a wait ends. A store that gathers writes before it forces them waits for some hundred microseconds, and each
 * ordinary way to wait is late by a good part of that.
 *
 * <p>Each {@link io.caravan.bench.timers.Waiter} is asked for the same delays, on an idle machine and on one whose cores
 * all spin ({@link io.caravan.bench.timers.BusyCores}). The machine's own limit is a thread that does nothing but look at
 * the clock.
 */
@NullMarked
package io.caravan.bench.timers;

import org.jspecify.annotations.NullMarked;
