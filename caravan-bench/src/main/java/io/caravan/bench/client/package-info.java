/** Connections to a Caravan server in another process; shared by the benchmarks and caravan-torture. */
@NullMarked
package io.caravan.bench.client;

import org.jspecify.annotations.NullMarked;
