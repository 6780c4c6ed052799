/**
 * Contains test code that this module shares with the modules that build on it.
 *
 * <p>{@link io.caravan.testing.ListStoreContract} is the contract of {@link io.caravan.ListStore} as tests. A subclass
 * for each implementation opens the store. {@link io.caravan.testing.ModelLists} computes the expected results,
 * {@link io.caravan.testing.RandomOperations} generates operations, and {@link io.caravan.testing.ModelRun} performs
 * them on both a store and the model. {@link io.caravan.testing.Seeds} makes all randomness repeatable.
 *
 * <p>{@link io.caravan.testing.MemoryStorage} is a disk that can lose power, {@link io.caravan.testing.FaultStorage}
 * one that holds, fails, and records calls, and {@link io.caravan.testing.CrashStorage} one that loses, keeps, tears,
 * and drops writes at random, as real disks do.
 *
 * <p>{@link io.caravan.testing.ChildProcess} is a program in its own process, which a test can kill, and
 * {@link io.caravan.testing.ServerProcess} is the Caravan server in such a process.
 */
@NullMarked
package io.caravan.testing;

import org.jspecify.annotations.NullMarked;
