/**
 * The storage abstraction: the only package that opens, maps, fsyncs, renames, or locks files.
 *
 * <p>{@link io.caravan.io.Storage} is the contract, which defines what is durable and when. {@link
 * io.caravan.io.FileStorage} implements it on a real file system. All other packages rely only on the contract, so
 * tests can substitute a disk that fails or loses data.
 */
@NullMarked
package io.caravan.io;

import org.jspecify.annotations.NullMarked;
