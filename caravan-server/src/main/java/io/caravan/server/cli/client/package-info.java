/**
 * Connects commands to a running server, and defines the options that these commands share.
 *
 * <p>{@link io.caravan.server.cli.client.ClientCommand} is the base class of these commands. An {@link
 * io.caravan.server.cli.client.Endpoint} is the address of a server and the login, a {@link
 * io.caravan.server.cli.client.ServerConnection} a connection to it, and a {@link
 * io.caravan.server.cli.client.DocumentClient} accesses the documents of a server or a cluster. A document client is used
 * on one thread, and holds at most one page of a document's values in memory.
 */
@NullMarked
package io.caravan.server.cli.client;

import org.jspecify.annotations.NullMarked;
