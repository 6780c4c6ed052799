/**
 * HTTP/1.1 over the document service: the Durable Streams protocol under {@code /v1/stream/}, and server pages.
 *
 * <p>The path of a request: {@link io.caravan.server.protocol.http.codec.RequestDecoder} decodes it,
 * {@link io.caravan.server.protocol.http.connection.HttpConnection} finds its
 * {@link io.caravan.server.protocol.http.connection.Route} as soon as the head has arrived, lets
 * {@link io.caravan.server.protocol.http.connection.Gate} check the client's permission, collects the body, and passes
 * an {@link io.caravan.server.protocol.http.connection.Exchange} to the route's
 * {@link io.caravan.server.protocol.http.connection.Route.Endpoint}. A connection answers one request at a time, so
 * answers are in order, and nothing more is read from a client that does not read its answers.
 *
 * <p>Reads run on reading threads, a bounded slice at a time, so no slow client occupies one. Live reads occupy no
 * thread while they wait.
 */
@NullMarked
package io.caravan.server.protocol.http;

import org.jspecify.annotations.NullMarked;
