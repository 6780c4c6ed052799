/**
 * The commands for a running server.
 *
 * <p>{@link io.caravan.server.cli.client.ClientCommands} adds them to a command line. Each command is a class;
 * {@link io.caravan.server.cli.client.ClientCommand} holds what they share: the options, the connection, and the
 * reporting of problems. {@link io.caravan.server.cli.client.Documents} offers the server's commands as Java methods,
 * over one {@link io.caravan.server.cli.client.ServerConnection}; {@link io.caravan.server.cli.common.Output} prints.
 * Everything runs on the command's thread, and no more of a document is in memory than a page of its values.
 */
@NullMarked
package io.caravan.server.cli.client;

import org.jspecify.annotations.NullMarked;
