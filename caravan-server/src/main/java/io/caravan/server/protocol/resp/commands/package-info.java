/**
 * The commands, grouped by purpose. To add a command, add it to the {@code all()} of its group. List a new group in
 * {@link io.caravan.server.protocol.resp.RespProtocol}.
 */
@NullMarked
package io.caravan.server.protocol.resp.commands;

import org.jspecify.annotations.NullMarked;
