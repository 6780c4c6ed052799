/** The hosts that keep a store together: where they are, who leads, and which slot a document is in. */
@NullMarked
package io.caravan.server.cluster;

import org.jspecify.annotations.NullMarked;
