/**
 * The command line. {@link io.caravan.server.cli.Main} puts the commands together; each room below has commands of one
 * kind.
 */
@NullMarked
package io.caravan.server.cli;

import org.jspecify.annotations.NullMarked;
