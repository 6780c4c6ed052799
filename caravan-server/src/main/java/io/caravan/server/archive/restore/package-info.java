/**
 * Restores documents from an archive to a store. {@code WholeRestore} fills an empty store, {@code RestoreService}
 * restores single documents into a store that is in use, and {@code Hydration} restores a document when it is first
 * requested. {@code Drills} test restores on a schedule. {@code DocumentRestorer} restores a generation: it creates
 * missing documents, and defines the rules for existing ones and follows them.
 */
@NullMarked
package io.caravan.server.archive.restore;

import org.jspecify.annotations.NullMarked;
