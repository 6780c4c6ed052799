/**
 * The commands that speak to a running server.
 *
 * <p>{@link io.caravan.server.cli.ClientCommands} adds them to a command line. Each command is a class named after it, with
 * {@link io.caravan.server.cli.ClientCommand} as what they share: the options, the connection, and problems told so that a
 * person can act on them. Below them, {@link io.caravan.server.cli.Documents} says in Java what the server's commands say
 * in RESP, over one {@link io.caravan.server.cli.ServerConnection}; {@link io.caravan.server.cli.Output} prints. Everything
 * runs on the thread that runs the command. Nothing is held of a document but a page of its values.
 */
@NullMarked
package io.caravan.server.cli;

import org.jspecify.annotations.NullMarked;
