/**
 * The server: a store behind the network, and the command line.
 *
 * <p>{@link io.caravan.server.Main} is the command line, {@link io.caravan.server.ServeCommand} opens a store and runs a
 * {@link io.caravan.server.Server} over it, which puts together the documents ({@code document}) and the protocols
 * ({@code resp}).
 */
@NullMarked
package io.caravan.server;

import org.jspecify.annotations.NullMarked;
