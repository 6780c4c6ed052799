/** HTTP messages: decodes and checks requests, and encodes responses and problems. Does not access documents. */
@NullMarked
package io.caravan.server.protocol.http.codec;

import org.jspecify.annotations.NullMarked;
