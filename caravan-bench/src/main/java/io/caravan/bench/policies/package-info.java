/**
 * How long to wait before a force depends on the load: at few appends a second waiting only costs time, at many it saves
 * forces that they would else wait for. The best wait by the theory of group commit is the square root of the force time
 * over the arrival rate; {@link io.caravan.FlushPolicy#adaptive()} follows it, the fixed delays are right at one rate.
 *
 * <p>{@link io.caravan.bench.policies.PolicySweep} drives a store of each policy through all rates with
 * {@link io.caravan.bench.policies.OpenLoopAppends}, and through a closed loop of many writers.
 */
@NullMarked
package io.caravan.bench.policies;

import org.jspecify.annotations.NullMarked;
