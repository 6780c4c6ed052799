/** The nodes that replicate a store: their addresses, their leader, and the hash slots of their documents. */
@NullMarked
package io.caravan.server.cluster;

import org.jspecify.annotations.NullMarked;
