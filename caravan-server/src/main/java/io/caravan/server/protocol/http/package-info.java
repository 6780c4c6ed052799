/**
 * Serves HTTP/1.1 over the document service: the Durable Streams protocol under {@code /v1/stream/}, and server pages.
 *
 * <p>The path of a request: {@link io.caravan.server.protocol.http.codec.RequestDecoder} decodes it. As soon as the
 * head has arrived, {@link io.caravan.server.protocol.http.connection.HttpConnection} finds its {@link
 * io.caravan.server.protocol.http.connection.Route}, and {@link io.caravan.server.protocol.http.connection.Gate} checks
 * the client's permission. The connection collects the body and passes an {@link
 * io.caravan.server.protocol.http.connection.Exchange} to the route's {@link
 * io.caravan.server.protocol.http.connection.Route.Endpoint}.
 *
 * <p>A connection handles one request at a time, so responses are in order, and the server reads nothing more from a
 * client that does not read its responses.
 *
 * <p>Reads run on reading threads, a bounded slice at a time, so no slow client occupies one. Live reads occupy no
 * thread while they wait.
 */
@NullMarked
package io.caravan.server.protocol.http;

import org.jspecify.annotations.NullMarked;
