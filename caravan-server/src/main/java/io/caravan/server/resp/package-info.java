/**
 * RESP, the protocol of Redis, version 2, over the document service.
 *
 * <p>A request's way: {@link io.caravan.server.resp.RequestDecoder} makes a {@link io.caravan.server.resp.Request} of
 * bytes and holds them to {@link io.caravan.server.resp.RespLimits}; {@link io.caravan.server.resp.RespHandler} hands it
 * to the connection's {@link io.caravan.server.resp.CommandRunner}, which runs it, at once or on a reading thread, by
 * {@link io.caravan.server.resp.CommandTable}; the answer waits in {@link io.caravan.server.resp.ReplyQueue} until all
 * before it are written. Answers that come from other threads pass through {@link
 * io.caravan.server.resp.CompletionInbox}.
 */
@NullMarked
package io.caravan.server.resp;

import org.jspecify.annotations.NullMarked;
