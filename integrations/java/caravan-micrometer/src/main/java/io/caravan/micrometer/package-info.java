/** Micrometer metrics for an embedded Caravan store: {@link io.caravan.micrometer.CaravanMetrics}. */
@NullMarked
package io.caravan.micrometer;

import org.jspecify.annotations.NullMarked;
