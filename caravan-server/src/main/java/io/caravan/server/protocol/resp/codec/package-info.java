/**
 * Requests and replies of RESP, and their encoding.
 *
 * <p>{@link RespRequestDecoder} decodes a {@link RespRequest} from bytes and enforces {@link RespLimits}. A {@link Reply}
 * encodes itself for the {@link RespVersion} of the connection.
 */
@NullMarked
package io.caravan.server.protocol.resp.codec;

import org.jspecify.annotations.NullMarked;
