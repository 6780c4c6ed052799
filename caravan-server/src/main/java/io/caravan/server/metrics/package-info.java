/** The server's metrics, in the format of Prometheus. */
@NullMarked
package io.caravan.server.metrics;

import org.jspecify.annotations.NullMarked;
