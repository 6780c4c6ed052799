/**
 * The commands for a running server.
 *
 * <p>Each command is a class. {@link io.caravan.server.cli.client.ClientCommand} contains their common options and
 * connection. {@link io.caravan.server.cli.client.DocumentClient} accesses documents, over RESP with a {@link
 * io.caravan.server.cli.client.ServerConnection} or over HTTP; {@link io.caravan.server.cli.common.Output} prints the
 * results. These commands run on one thread, and hold at most one page of a document's values in memory.
 */
@NullMarked
package io.caravan.server.cli.client;

import org.jspecify.annotations.NullMarked;
