/**
 * Programs that test and measure Caravan, and the code that they share.
 *
 * <p>{@code torture} kills the store and checks what survives, {@code replay} replays recorded editing sessions, {@code
 * engine} measures the store beside those in {@code peers} and the machine's own limits, {@code network}
 * measures the server beside its peers, {@code cluster} three of them together, and {@code gate} fails when the store
 * has become slower. Shared here: frames over a local socket that outlive their writer ({@link
 * io.caravan.bench.Frames}, {@link io.caravan.bench.LocalSocket}), and a progress line ({@link
 * io.caravan.bench.ProgressLine}).
 */
@NullMarked
package io.caravan.bench;

import org.jspecify.annotations.NullMarked;
