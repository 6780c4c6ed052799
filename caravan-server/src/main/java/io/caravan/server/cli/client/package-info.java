/**
 * The commands that speak to a running server.
 *
 * <p>{@link io.caravan.server.cli.client.ClientCommands} adds them to a command line. Each command is a class named after it, with
 * {@link io.caravan.server.cli.client.ClientCommand} as what they share: the options, the connection, and problems told so that a
 * person can act on them. Below them, {@link io.caravan.server.cli.client.Documents} says in Java what the server's commands say
 * in RESP, over one {@link io.caravan.server.cli.client.ServerConnection}; {@link io.caravan.server.cli.common.Output} prints. Everything
 * runs on the thread that runs the command. Nothing is held of a document but a page of its values.
 */
@NullMarked
package io.caravan.server.cli.client;

import org.jspecify.annotations.NullMarked;
