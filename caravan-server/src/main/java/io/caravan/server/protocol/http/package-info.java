/**
 * Provides access to documents and the server over HTTP/1.1; the Durable Streams protocol is under {@code /v1/stream/}.
 *
 * <p>{@link HttpConnection} decodes a request. When the head has arrived, it finds the route in {@link Routes} and checks
 * the client's permission. It collects the body and passes an {@link HttpExchange} to the {@link
 * Routes.Route#endpoint() endpoint} of the route.
 *
 * <p>A connection handles one request at a time. Responses are therefore in order, and a client must receive a response
 * before the server reads its next requests.
 *
 * <p>Reads run on reading threads, one bounded slice at a time, so slow clients do not occupy threads. Live reads
 * occupy no thread while they wait.
 */
@NullMarked
package io.caravan.server.protocol.http;

import org.jspecify.annotations.NullMarked;
