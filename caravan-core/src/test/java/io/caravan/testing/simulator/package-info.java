/**
 * The simulator: the real engine on a {@link io.caravan.testing.CrashStorage}, driven step by step on one thread by a
 * seed, with its power cut between any two I/O calls.
 */
package io.caravan.testing.simulator;
