/**
 * Diagnostics in one file for an expert, collected from a server, a store's directory, the machine, and a log. It
 * contains only data on an allow list ({@link io.caravan.server.cli.support.AllowList}); it does not rely on a list of
 * secrets to remove.
 */
@NullMarked
package io.caravan.server.cli.support;

import org.jspecify.annotations.NullMarked;
