/**
 * The commands, grouped as Redis groups them. To add one, add it to the {@code all()} of its group; a new group is
 * listed in {@link io.caravan.server.protocol.resp.RespProtocol}.
 */
@NullMarked
package io.caravan.server.protocol.resp.commands;

import org.jspecify.annotations.NullMarked;
