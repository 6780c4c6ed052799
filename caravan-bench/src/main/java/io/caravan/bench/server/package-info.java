/** Runs a Caravan server in its own process and talks to it; shared by the programs of this module. */
@NullMarked
package io.caravan.bench.server;

import org.jspecify.annotations.NullMarked;
