/**
 * What tests of a store share, in this module and in those that build on it.
 *
 * <p>{@link io.caravan.testing.ListStoreContract} is the contract of {@link io.caravan.ListStore} as tests; a subclass
 * per implementation says how to open it. {@link io.caravan.testing.ModelLists} says what a store should answer, {@link
 * io.caravan.testing.RandomOperations} makes up what to ask, and {@link io.caravan.testing.ModelRun} asks both a store
 * and the model. {@link io.caravan.testing.Seeds} makes all chance repeatable.
 *
 * <p>{@link io.caravan.testing.MemoryStorage} is a disk that can lose its power,
 * {@link io.caravan.testing.FaultStorage} one that holds, fails and remembers calls,
 * {@link io.caravan.testing.CrashStorage} one that loses, keeps, tears and drops writes by chance, as real ones do.
 *
 * <p>{@link io.caravan.testing.ChildProcess} is a program in a process of its own, which can really be killed, and {@link
 * io.caravan.testing.ServerProcess} is Caravan's server in one.
 */
@NullMarked
package io.caravan.testing;

import org.jspecify.annotations.NullMarked;
