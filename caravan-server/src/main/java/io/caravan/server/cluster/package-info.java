/** The nodes that replicate a store: their addresses, their leader, and the slot of a document. */
@NullMarked
package io.caravan.server.cluster;

import org.jspecify.annotations.NullMarked;
