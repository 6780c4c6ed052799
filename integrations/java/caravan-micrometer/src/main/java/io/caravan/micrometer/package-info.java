/** Metrics of an embedded store for Micrometer: {@link io.caravan.micrometer.CaravanMetrics}. */
@NullMarked
package io.caravan.micrometer;

import org.jspecify.annotations.NullMarked;
