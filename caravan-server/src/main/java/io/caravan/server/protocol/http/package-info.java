/**
 * HTTP/1.1 over the document service: the Durable Streams protocol under {@code /v1/stream/}, and what the server tells of
 * itself.
 *
 * <p>A request's way: {@link io.caravan.server.protocol.http.codec.RequestDecoder} makes HTTP objects of bytes, up to the end of one
 * request; {@link io.caravan.server.protocol.http.connection.HttpConnection} finds the {@link io.caravan.server.protocol.http.connection.Route} as soon as the head
 * is there, lets {@link io.caravan.server.protocol.http.connection.Gate} say whether the client may, gathers the body, and hands an {@link
 * io.caravan.server.protocol.http.connection.Exchange} to the route's {@link io.caravan.server.protocol.http.connection.Endpoint}. One request of a connection is
 * answered at a time, so answers are in order and a client that takes none of them is read no more of.
 *
 * <p>Reads run on reading threads, a bounded slice at a time ({@link io.caravan.server.protocol.http.read.SliceReader}): nobody who is
 * slow holds one. Live reads hold no thread at all while they wait.
 */
@NullMarked
package io.caravan.server.protocol.http;

import org.jspecify.annotations.NullMarked;
