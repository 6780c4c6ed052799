/**
 * Commands that work on a store's directory while no server has it open.
 */
@NullMarked
package io.caravan.server.cli.store;

import org.jspecify.annotations.NullMarked;
