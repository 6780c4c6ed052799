/** Decodes and checks HTTP requests, and encodes responses and problems, without access to documents. */
@NullMarked
package io.caravan.server.protocol.http.codec;

import org.jspecify.annotations.NullMarked;
