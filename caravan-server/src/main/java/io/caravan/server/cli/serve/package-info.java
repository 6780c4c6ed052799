/**
 * {@code caravan serve}: its options, with one class per group, and {@link io.caravan.server.cli.serve.ServeCommand},
 * which opens a store and serves it. The methods of the options throw {@link IllegalArgumentException} if settings are
 * invalid or contradict each other, and the commands report it as a usage error.
 */
@NullMarked
package io.caravan.server.cli.serve;

import org.jspecify.annotations.NullMarked;
