/** Manages HTTP connections, and passes each request to the endpoint that handles it. */
@NullMarked
package io.caravan.server.protocol.http.connection;

import org.jspecify.annotations.NullMarked;
