package io.caravan.server.archive;

/**
 * What an archive was found to hold.
 *
 * @param documents manifests, of documents that are there and of those that were deleted
 * @param deleted those of them that say that their document was deleted
 * @param generations snapshots that manifests name and that are whole
 * @param bytes the size of those
 * @param faults what is wrong
 * @param leftovers snapshots that no manifest names, which pruning removes or which are being archived now; no fault
 * @param leftoverBytes the size of those
 * @param unknown objects that are no archive's; no fault
 */
public record VerificationReport(
        long documents,
        long deleted,
        long generations,
        long bytes,
        long faults,
        long leftovers,
        long leftoverBytes,
        long unknown) {}
