/**
 * The commands for the operator of a running server: {@code check} for monitoring systems, {@code top} for people,
 * {@code support} to collect diagnostics for an expert, and {@code backup} to copy the store. They use statistics that
 * only administrators may see, and change nothing in the store.
 */
@NullMarked
package io.caravan.server.cli.operate;

import org.jspecify.annotations.NullMarked;
