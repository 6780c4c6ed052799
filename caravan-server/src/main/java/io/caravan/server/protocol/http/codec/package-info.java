/**
 * HTTP messages: requests decoded and checked, answers and problems encoded. Nothing here knows a document.
 */
@NullMarked
package io.caravan.server.protocol.http.codec;

import org.jspecify.annotations.NullMarked;
