/**
 * The commands for the operator of a running server: {@code check} for monitoring systems, {@code top} to look at, and
 * {@code support} to send to somebody who knows more. They see what the server tells an administrator, and change
 * nothing.
 */
@NullMarked
package io.caravan.server.cli.operate;

import org.jspecify.annotations.NullMarked;
