/** Commands for a cluster: to try one, to show its status, to move leadership, and to change its members. */
@NullMarked
package io.caravan.server.cli.cluster;

import org.jspecify.annotations.NullMarked;
