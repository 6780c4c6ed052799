/**
 * RESP bytes: requests decoded within their limits, replies encoded. Nothing here knows a document.
 */
@NullMarked
package io.caravan.server.protocol.resp.codec;

import org.jspecify.annotations.NullMarked;
