/**
 * Restores documents from an archive to a store. {@code WholeRestore} fills an empty store, {@code RestoreService}
 * restores single documents into a store that is in use, and {@code Hydration} restores a document when it is first
 * requested. {@code Drill} tests restores on a schedule. {@code MergePlan} defines the rules; {@code DocumentRestorer}
 * and {@code Merge} follow them.
 */
@NullMarked
package io.caravan.server.archive.restore;

import org.jspecify.annotations.NullMarked;
