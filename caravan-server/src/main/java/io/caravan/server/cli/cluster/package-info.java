/** Commands for a cluster: to run a demo, to show the status, to transfer leadership, and to change the members. */
@NullMarked
package io.caravan.server.cli.cluster;

import org.jspecify.annotations.NullMarked;
