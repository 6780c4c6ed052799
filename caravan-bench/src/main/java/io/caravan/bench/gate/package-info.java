/**
 * {@code scripts/bench gate}: fails when a build has become slower than it may be.
 *
 * <p>Times depend on the machine, so the gate looks at ratios only: what the engine takes over what the machine, or another
 * store, takes for the same thing in the same moment. Each {@link io.caravan.bench.gate.Ratio} has a
 * {@link io.caravan.bench.gate.Probe} that measures it once a round, and a ceiling in {@code ceilings.json}
 * ({@link io.caravan.bench.gate.Ceilings}). {@link io.caravan.bench.gate.Gate} goes from round to round until the middle half
 * of each ratio's rounds is on one side of its ceiling, or there were enough of them; the median counts, and no round is left
 * out.
 *
 * <p>Where it can be, time is the time of the processor that a thread has used, which other work on the machine hardly changes.
 */
@NullMarked
package io.caravan.bench.gate;

import org.jspecify.annotations.NullMarked;
