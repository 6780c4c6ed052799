/**
 * From an archive back into a store: {@code WholeRestore} fills an empty one, {@code RestoreService} restores single
 * documents into a store that is being served, {@code Hydration} does so when a document is first asked for,
 * {@code Drill} tries all this out on a schedule. {@code MergePlan} has the rules, {@code DocumentRestorer} and
 * {@code Merge} follow them.
 */
@NullMarked
package io.caravan.server.archive.restore;

import org.jspecify.annotations.NullMarked;
