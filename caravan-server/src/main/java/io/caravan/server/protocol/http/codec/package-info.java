/** HTTP messages: decodes and checks requests, encodes responses and problems. Nothing here accesses a document. */
@NullMarked
package io.caravan.server.protocol.http.codec;

import org.jspecify.annotations.NullMarked;
