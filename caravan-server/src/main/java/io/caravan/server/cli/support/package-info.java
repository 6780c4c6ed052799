/**
 * Diagnostics for an expert in one file, from a server, a store's directory, the machine, and a log. Everything in it
 * is on an allow list ({@link io.caravan.server.cli.support.AllowList}); no list of secrets to remove exists.
 */
@NullMarked
package io.caravan.server.cli.support;

import org.jspecify.annotations.NullMarked;
