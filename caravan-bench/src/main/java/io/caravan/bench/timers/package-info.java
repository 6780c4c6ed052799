/**
 * Measures how late a wait ends. A store that gathers writes before it forces them waits for some hundred microseconds;
 * ordinary ways to wait are late by a good part of that.
 *
 * <p>Each {@link io.caravan.bench.timers.Waiter} runs with the same delays, on an idle machine and on one whose cores
 * are all busy ({@link io.caravan.bench.timers.BusyCores}). The machine's own limit is a thread that only reads the
 * clock.
 */
@NullMarked
package io.caravan.bench.timers;

import org.jspecify.annotations.NullMarked;
