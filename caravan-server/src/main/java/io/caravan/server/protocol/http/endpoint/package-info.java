/**
 * The endpoints, a class each. {@link io.caravan.server.protocol.http.Routes} lists them with their paths.
 */
@NullMarked
package io.caravan.server.protocol.http.endpoint;

import org.jspecify.annotations.NullMarked;
