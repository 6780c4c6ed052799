/**
 * RESP, the protocol of Redis, versions 2 and 3, over the document service.
 *
 * <p>A request's way: {@link io.caravan.server.resp.RequestDecoder} makes a {@link io.caravan.server.resp.Request} of
 * bytes and holds them to {@link io.caravan.server.resp.RespLimits}; {@link io.caravan.server.resp.RespHandler} hands it
 * to the connection's {@link io.caravan.server.resp.CommandRunner}, which has {@link io.caravan.server.resp.CommandGate}
 * refuse it or runs it by {@link io.caravan.server.resp.CommandTable}, as its {@link io.caravan.server.resp.Action} says;
 * the answer waits in {@link io.caravan.server.resp.ReplyQueue} until all before it are written. Answers that come from
 * other threads pass through {@link io.caravan.server.resp.CompletionInbox}.
 *
 * <p>A write is a {@link io.caravan.server.resp.Change}, which is made by itself or as part of a {@link
 * io.caravan.server.resp.Transaction}. Reads run on reading threads, those of one connection in a {@link
 * io.caravan.server.resp.ReadBatch}; one that has to wait, for a slow client ({@link io.caravan.server.resp.ValueStream})
 * or for a change ({@link io.caravan.server.resp.TailRead}), is a {@link io.caravan.server.resp.Reading}, which lets its
 * thread go and takes its next turn when it is woken.
 *
 * <p>Commands are in the classes whose names end so, each with what {@code COMMAND} tells of them. Those of Redis's that
 * there are not are in {@link io.caravan.server.resp.Replacements}.
 */
@NullMarked
package io.caravan.server.resp;

import org.jspecify.annotations.NullMarked;
