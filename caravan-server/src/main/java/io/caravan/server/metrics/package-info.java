/** The server's metrics, in the Prometheus format. */
@NullMarked
package io.caravan.server.metrics;

import org.jspecify.annotations.NullMarked;
