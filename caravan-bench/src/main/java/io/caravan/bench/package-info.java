/**
 * Programs that put Caravan to the proof, and what they share.
 *
 * <p>{@code torture} kills the store and checks what is left, {@code replay} plays recorded editing sessions through
 * it, {@code engine} measures it beside the stores in {@code peers} and the machine's own limits, {@code gate} fails when it has
 * become slower, and {@code network} the server beside its peers. Shared
 * here: child processes that can really be killed ({@link io.caravan.bench.ChildProcess}), frames over a local socket that outlive their writer
 * ({@link io.caravan.bench.Frames}, {@link io.caravan.bench.LocalSocket}), and a line of progress
 * ({@link io.caravan.bench.ProgressLine}).
 */
@NullMarked
package io.caravan.bench;

import org.jspecify.annotations.NullMarked;
