/**
 * The commands for the operator of a running server: {@code check} for monitoring systems, {@code top} to look at,
 * {@code support} to send to somebody who knows more, and {@code backup} to copy its store. They see what the server
 * tells an administrator, and change nothing in the store.
 */
@NullMarked
package io.caravan.server.cli.operate;

import org.jspecify.annotations.NullMarked;
