/**
 * The {@code caravan} command line. {@link io.caravan.server.cli.Main} assembles the commands; each subpackage contains
 * commands of one kind.
 */
@NullMarked
package io.caravan.server.cli;

import org.jspecify.annotations.NullMarked;
