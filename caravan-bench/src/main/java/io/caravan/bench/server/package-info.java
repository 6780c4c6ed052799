/** What the programs of this module need to run a Caravan server in a process of its own and to talk to it. */
@NullMarked
package io.caravan.bench.server;

import org.jspecify.annotations.NullMarked;
