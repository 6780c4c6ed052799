/**
 * The storage seam: the only package that opens, maps, forces, renames or locks files.
 *
 * <p>{@link io.caravan.io.Storage} is the written contract, in terms of what is durable when; {@link
 * io.caravan.io.FileStorage} keeps it on a real file system. Everything above works against the contract, so tests can
 * put a disk that fails or forgets in its place.
 */
@NullMarked
package io.caravan.io;

import org.jspecify.annotations.NullMarked;
