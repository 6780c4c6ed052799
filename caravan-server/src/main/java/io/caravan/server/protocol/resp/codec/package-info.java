/** The RESP encoding: decodes requests within their limits, and encodes replies. Independent of documents. */
@NullMarked
package io.caravan.server.protocol.resp.codec;

import org.jspecify.annotations.NullMarked;
