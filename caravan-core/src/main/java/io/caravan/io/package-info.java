/**
 * The storage seam: the only package that opens, maps, forces, renames or locks files.
 *
 * <p>{@link io.caravan.io.Storage} is the written contract, in terms of what is durable when; {@link
 * io.caravan.io.FileStorage} fulfils it on a real file system. Everything above relies on the contract alone, so tests
 * can use a disk that fails or forgets instead.
 */
@NullMarked
package io.caravan.io;

import org.jspecify.annotations.NullMarked;
