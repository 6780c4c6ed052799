/**
 * How a command is found, permitted and run: {@link io.caravan.server.protocol.resp.dispatch.CommandSpec} describes
 * one, {@link io.caravan.server.protocol.resp.dispatch.CommandGate} permits,
 * {@link io.caravan.server.protocol.resp.dispatch.Session} is what a connection remembers.
 */
@NullMarked
package io.caravan.server.protocol.resp.dispatch;

import org.jspecify.annotations.NullMarked;
