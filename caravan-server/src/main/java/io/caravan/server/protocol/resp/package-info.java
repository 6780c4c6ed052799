/**
 * Provides access to documents through RESP, the protocol of Redis, in versions 2 and 3.
 *
 * <p>{@link RespRequestDecoder} decodes a {@link RespRequest} from bytes and enforces {@link RespLimits}. {@link
 * RespHandler} rejects the request with an error from {@link Session#reject}, or runs the {@link Action} of its
 * {@link CommandSpec}. The {@link Reply} waits in {@link ReplyQueue} until all earlier replies are written, and then
 * encodes itself for the version of the connection.
 *
 * <p>A {@linkplain Action.Write write} is applied by itself or as part of a {@link Transaction}. Reads run on reading
 * threads; consecutive reads of a connection form a {@link ReadBatch}. A read that may have to wait for a slow client
 * ({@link ValueStream}) or for a write ({@link TailRead}) is a {@link ResumableRead}, which releases its thread while it
 * waits.
 *
 * <p>The classes named {@code ...Commands} contain the commands and their descriptions. To add a command, add it to the
 * {@code all()} of its group; list a new group in {@link RespProtocol}. {@link UnsupportedCommands} contains advice for
 * Redis commands that Caravan lacks.
 */
@NullMarked
package io.caravan.server.protocol.resp;

import org.jspecify.annotations.NullMarked;
