/** The commands that read and write documents on a server, and the command that prints its statistics. */
@NullMarked
package io.caravan.server.cli.document;

import org.jspecify.annotations.NullMarked;
