/**
 * Connections and requests: {@link io.caravan.server.protocol.http.connection.HttpConnection} reads requests in turn,
 * finds the {@link io.caravan.server.protocol.http.connection.Route}, lets the
 * {@link io.caravan.server.protocol.http.connection.Gate} check the permission, and passes an
 * {@link io.caravan.server.protocol.http.connection.Exchange} to the route's
 * {@link io.caravan.server.protocol.http.connection.Endpoint}.
 */
@NullMarked
package io.caravan.server.protocol.http.connection;

import org.jspecify.annotations.NullMarked;
