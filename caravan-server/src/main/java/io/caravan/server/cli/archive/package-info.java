/** {@code caravan archive} and the commands below it: they look into an archive, and need no server and no store. */
@NullMarked
package io.caravan.server.cli.archive;

import org.jspecify.annotations.NullMarked;
