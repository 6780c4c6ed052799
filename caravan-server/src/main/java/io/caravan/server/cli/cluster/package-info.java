/** Commands for a cluster of hosts: to try one, to look at one, to move leadership, and to change its hosts. */
@NullMarked
package io.caravan.server.cli.cluster;

import org.jspecify.annotations.NullMarked;
