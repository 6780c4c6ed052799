/**
 * Programs that measure Caravan, and the code that they share.
 *
 * <ul>
 *   <li>{@code engine} compares the store with other stores ({@code peers}) and with the machine's own limits.
 *   <li>{@code server} compares the server with its peers, and {@code cluster} measures three servers together.
 *   <li>{@code gate} fails if the store has become slower.
 * </ul>
 *
 * <p>This package contains the shared code, such as a progress line ({@link io.caravan.bench.ProgressLine}).
 */
@NullMarked
package io.caravan.bench;

import org.jspecify.annotations.NullMarked;
