/** Connections and requests: the path from the bytes of a request to the endpoint that handles it. */
@NullMarked
package io.caravan.server.protocol.http.connection;

import org.jspecify.annotations.NullMarked;
