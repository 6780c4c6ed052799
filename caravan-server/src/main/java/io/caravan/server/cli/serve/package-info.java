/**
 * {@code caravan serve}: its options, with one class per group, and {@link io.caravan.server.cli.serve.ServeCommand},
 * which opens a store and serves it.
 */
@NullMarked
package io.caravan.server.cli.serve;

import org.jspecify.annotations.NullMarked;
