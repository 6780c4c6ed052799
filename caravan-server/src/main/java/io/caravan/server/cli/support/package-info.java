/**
 * One file for whoever is asked for help: what a server, a store's directory, the machine and a log tell. Everything in
 * it is let through by name ({@link io.caravan.server.cli.support.AllowList}); there is no list of what to remove.
 */
@NullMarked
package io.caravan.server.cli.support;

import org.jspecify.annotations.NullMarked;
