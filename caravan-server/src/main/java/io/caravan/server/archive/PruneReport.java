package io.caravan.server.archive;

/**
 * What pruning has done, or would do.
 *
 * @param documents names that there were
 * @param generations snapshots that are removed because the policy does not keep them
 * @param leftovers snapshots that are removed because no manifest names them
 * @param forgotten documents of which nothing is left, as they were deleted long ago
 * @param bytes the size of everything that is removed
 * @param waiting snapshots that no manifest names, and that stay because somebody may be about to commit them
 * @param problems documents that could not be pruned
 */
public record PruneReport(
        long documents, long generations, long leftovers, long forgotten, long bytes, long waiting, long problems) {}
