/**
 * Finds, authorizes, and runs commands. {@link io.caravan.server.protocol.resp.dispatch.CommandSpec} describes a
 * command, {@link io.caravan.server.protocol.resp.dispatch.CommandGate} authorizes it, and
 * {@link io.caravan.server.protocol.resp.dispatch.Session} holds the state of a connection.
 */
@NullMarked
package io.caravan.server.protocol.resp.dispatch;

import org.jspecify.annotations.NullMarked;
