/**
 * Simulates the store: runs the real engine on a {@link io.caravan.testing.CrashStorage}. A seed determines every step,
 * one thread runs at a time, and the power may be cut between any two I/O calls.
 */
package io.caravan.testing.simulator;
