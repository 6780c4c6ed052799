/**
 * The RESP encoding, which does not depend on documents: the classes that decode requests within limits, and encode
 * replies.
 */
@NullMarked
package io.caravan.server.protocol.resp.codec;

import org.jspecify.annotations.NullMarked;
