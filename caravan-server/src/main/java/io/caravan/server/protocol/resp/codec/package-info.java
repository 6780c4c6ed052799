/** Decodes RESP requests within limits, and encodes replies, without access to documents. */
@NullMarked
package io.caravan.server.protocol.resp.codec;

import org.jspecify.annotations.NullMarked;
