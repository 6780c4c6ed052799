/** Commands that work on the directory of a store. Some need a closed store; others also read an open one. */
@NullMarked
package io.caravan.server.cli.store;

import org.jspecify.annotations.NullMarked;
