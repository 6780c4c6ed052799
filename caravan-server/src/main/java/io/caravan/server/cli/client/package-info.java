/**
 * Connects commands to a running server, and defines the options that these commands share.
 *
 * <p>{@link io.caravan.server.cli.client.ClientCommand} is the base class of these commands. {@link
 * io.caravan.server.cli.client.DocumentClient} accesses documents, over RESP with a {@link
 * io.caravan.server.cli.client.ServerConnection} or over HTTP. A document client is used on one thread, and holds at
 * most one page of a document's values in memory.
 */
@NullMarked
package io.caravan.server.cli.client;

import org.jspecify.annotations.NullMarked;
