/** Commands for a cluster of hosts: to try one, to look at one, and to move leadership. */
@NullMarked
package io.caravan.server.cli.cluster;

import org.jspecify.annotations.NullMarked;
