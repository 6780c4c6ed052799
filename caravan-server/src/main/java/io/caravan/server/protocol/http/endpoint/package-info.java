/**
 * The HTTP endpoints, and the reads that they start. {@link io.caravan.server.protocol.http.endpoint.Routes} lists the
 * endpoints with their paths.
 */
@NullMarked
package io.caravan.server.protocol.http.endpoint;

import org.jspecify.annotations.NullMarked;
