/**
 * RESP, the protocol of Redis, versions 2 and 3, over the document service.
 *
 * <p>A request's way: {@link io.caravan.server.protocol.resp.codec.RequestDecoder} makes a
 * {@link io.caravan.server.protocol.resp.codec.Request} of bytes and holds them to
 * {@link io.caravan.server.protocol.resp.codec.RespLimits}; {@link io.caravan.server.protocol.resp.RespHandler} hands
 * it to the connection's {@link io.caravan.server.protocol.resp.CommandRunner}, which has
 * {@link io.caravan.server.protocol.resp.dispatch.CommandGate} refuse it or runs it, as the
 * {@link io.caravan.server.protocol.resp.dispatch.Action} of its
 * {@link io.caravan.server.protocol.resp.dispatch.CommandSpec} says; the answer waits in
 * {@link io.caravan.server.protocol.resp.reply.ReplyQueue} until all before it are written. Answers that come from
 * other threads pass through {@link io.caravan.server.protocol.resp.reply.CompletionInbox}.
 *
 * <p>A write is a {@link io.caravan.server.protocol.resp.dispatch.Change}, which is made by itself or as part of a
 * {@link io.caravan.server.protocol.resp.dispatch.Transaction}. Reads run on reading threads, those of one connection
 * in a {@link io.caravan.server.protocol.resp.dispatch.ReadBatch}; one that has to wait, for a slow client
 * ({@link io.caravan.server.protocol.resp.commands.ValueStream}) or for a change
 * ({@link io.caravan.server.protocol.resp.commands.TailRead}), is a
 * {@link io.caravan.server.protocol.resp.dispatch.Reading}, which releases its thread and takes its next turn when it
 * is woken.
 *
 * <p>The classes named {@code ...Commands} have the commands, each with its description for {@code COMMAND}.
 * {@link io.caravan.server.protocol.resp.dispatch.Replacements} has advice for commands of Redis that Caravan lacks.
 */
@NullMarked
package io.caravan.server.protocol.resp;

import org.jspecify.annotations.NullMarked;
