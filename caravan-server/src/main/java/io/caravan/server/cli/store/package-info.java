/**
 * Commands that work on the directory of a closed store.
 */
@NullMarked
package io.caravan.server.cli.store;

import org.jspecify.annotations.NullMarked;
