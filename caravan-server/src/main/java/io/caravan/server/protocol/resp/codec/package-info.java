/** The RESP encoding, which does not depend on documents: decodes requests within limits, and encodes replies. */
@NullMarked
package io.caravan.server.protocol.resp.codec;

import org.jspecify.annotations.NullMarked;
