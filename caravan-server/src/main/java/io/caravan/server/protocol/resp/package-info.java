/**
 * Provides access to documents through RESP, the protocol of Redis, in versions 2 and 3.
 *
 * <p>{@link io.caravan.server.protocol.resp.codec.RespRequestDecoder} decodes a
 * {@link io.caravan.server.protocol.resp.codec.RespRequest} from bytes and enforces
 * {@link io.caravan.server.protocol.resp.codec.RespLimits}. {@link io.caravan.server.protocol.resp.RespHandler} passes
 * the request to the connection's {@link io.caravan.server.protocol.resp.CommandRunner}. The runner rejects the request
 * with an error from {@link io.caravan.server.protocol.resp.dispatch.CommandGate}, or runs the
 * {@link io.caravan.server.protocol.resp.dispatch.Action} of its
 * {@link io.caravan.server.protocol.resp.dispatch.CommandSpec}. The reply waits in
 * {@link io.caravan.server.protocol.resp.dispatch.ReplyQueue} until all earlier replies are written.
 *
 * <p>A write is a {@link io.caravan.server.protocol.resp.dispatch.Change}, which is applied by itself or as part of a
 * {@link io.caravan.server.protocol.resp.dispatch.Transaction}. Reads run on reading threads; consecutive reads of a
 * connection form a {@link io.caravan.server.protocol.resp.dispatch.ReadBatch}. A read that may have to wait for a slow
 * client ({@link io.caravan.server.protocol.resp.commands.ValueStream}) or for a write
 * ({@link io.caravan.server.protocol.resp.commands.TailRead}) is a
 * {@link io.caravan.server.protocol.resp.dispatch.ResumableRead}, which releases its thread while it waits.
 *
 * <p>The classes named {@code ...Commands} contain the commands and their descriptions.
 * {@link io.caravan.server.protocol.resp.dispatch.UnsupportedCommands} contains advice for Redis commands that Caravan
 * lacks.
 */
@NullMarked
package io.caravan.server.protocol.resp;

import org.jspecify.annotations.NullMarked;
