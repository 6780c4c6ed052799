/**
 * {@code scripts/bench gate}: fails if a build has become too slow.
 *
 * <p>Times depend on the machine, so the gate checks ratios only: the engine's time, divided by the time that the
 * machine or another store takes for the same work at the same moment. Each {@link io.caravan.bench.gate.Ratio} has a
 * {@link io.caravan.bench.gate.Probe} that measures it once a round, and a ceiling in {@code ceilings.json} ({@link
 * io.caravan.bench.gate.Ceilings}).
 *
 * <p>{@link io.caravan.bench.gate.Gate} adds rounds until the middle half of each ratio's rounds is on one side of its
 * ceiling, or the limit is reached; the median of all rounds counts. Where possible, times are a thread's processor
 * time, which other work on the machine hardly affects.
 */
@NullMarked
package io.caravan.bench.gate;

import org.jspecify.annotations.NullMarked;
