/** Connections to a Caravan server in another process; shared by the programs of this module. */
@NullMarked
package io.caravan.bench.client;

import org.jspecify.annotations.NullMarked;
