/**
 * The endpoints, and how they read: a bounded slice at a time, for catch-up, long polls and event streams. {@link
 * io.caravan.server.protocol.http.Routes} lists the endpoints with their paths.
 */
@NullMarked
package io.caravan.server.protocol.http.endpoint;

import org.jspecify.annotations.NullMarked;
