/** Connects the benchmarks and caravan-torture to a server in another process. */
@NullMarked
package io.caravan.bench.client;

import org.jspecify.annotations.NullMarked;
