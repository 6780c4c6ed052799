/** Code that all commands share: their base, output and its format, progress, and grouped help. */
@NullMarked
package io.caravan.server.cli.common;

import org.jspecify.annotations.NullMarked;
