/** Commands that manage spaces: settings for all documents whose names start with a prefix. */
@NullMarked
package io.caravan.server.cli.space;

import org.jspecify.annotations.NullMarked;
