/**
 * The endpoints, and their reads for catch-up, long polls and event streams, a bounded slice at a time. {@link
 * io.caravan.server.protocol.http.Routes} lists the endpoints with their paths.
 */
@NullMarked
package io.caravan.server.protocol.http.endpoint;

import org.jspecify.annotations.NullMarked;
