/**
 * {@code caravan serve}: its options, a class for each group of them, and {@link
 * io.caravan.server.cli.serve.ServeCommand}, which opens a store and serves it.
 */
@NullMarked
package io.caravan.server.cli.serve;

import org.jspecify.annotations.NullMarked;
