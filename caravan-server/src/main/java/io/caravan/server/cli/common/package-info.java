/** Code that all commands share: the base class, output, progress, and grouped help. */
@NullMarked
package io.caravan.server.cli.common;

import org.jspecify.annotations.NullMarked;
