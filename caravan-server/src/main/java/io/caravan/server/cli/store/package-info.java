/**
 * Commands that work on the directory of a store. Some commands require a closed store; others also read an open store.
 */
@NullMarked
package io.caravan.server.cli.store;

import org.jspecify.annotations.NullMarked;
