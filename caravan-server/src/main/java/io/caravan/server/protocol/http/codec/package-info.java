/** HTTP messages: decodes and checks requests, encodes answers and problems. Nothing here accesses a document. */
@NullMarked
package io.caravan.server.protocol.http.codec;

import org.jspecify.annotations.NullMarked;
