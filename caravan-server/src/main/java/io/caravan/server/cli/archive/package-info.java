/**
 * {@code caravan restore} and {@code caravan archive}, whose subcommands work on an archive without a server or a
 * store.
 */
@NullMarked
package io.caravan.server.cli.archive;

import org.jspecify.annotations.NullMarked;
