/**
 * The simulator: the real engine on a {@link io.caravan.testing.CrashStorage}, driven step by step by a seed, one
 * thread at a time, with its power cut between any two I/O calls.
 */
package io.caravan.testing.simulator;
