/**
 * Measures flush policies. The best wait before a force depends on the load: at few appends a second waiting only costs
 * time, at many it saves forces that they would otherwise wait for. By the theory of group commit, the best wait is the
 * square root of the force time over the arrival rate; {@link io.caravan.FlushPolicy#adaptive()} follows it, a fixed
 * delay is right at one rate only.
 *
 * <p>{@link io.caravan.bench.policies.PolicySweep} drives a store of each policy through all rates with
 * {@link io.caravan.bench.policies.OpenLoopAppends}, and through a closed loop of many writers.
 */
@NullMarked
package io.caravan.bench.policies;

import org.jspecify.annotations.NullMarked;
