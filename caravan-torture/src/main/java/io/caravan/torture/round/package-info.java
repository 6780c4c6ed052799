/**
 * Rounds of work and hardship for one store. Each round of {@link io.caravan.torture.round.Torture}, the supervisor, starts
 * a {@link io.caravan.torture.round.TortureSession}, a process that works on the store, puts this process through {@link
 * io.caravan.torture.round.Hardships}, and ends it. A second session then reads the contents of the store, which are
 * checked.
 *
 * <p>If intents may be rejected for lack of space, the workers wait for each result before the kill, because a rejection
 * without a result would leave a gap.
 */
@NullMarked
package io.caravan.torture.round;

import org.jspecify.annotations.NullMarked;
