/**
 * What commands of all kinds share: where they print, in which format, progress, and help in groups.
 */
@NullMarked
package io.caravan.server.cli.common;

import org.jspecify.annotations.NullMarked;
