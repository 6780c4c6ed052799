package io.caravan;

import java.util.List;

/**
 * The result of a repair.
 *
 * @param cutLsn the LSN at which the log was cut off; -1 if it was not cut
 * @param keptFiles the copies of all files that were changed or removed, as they were before the repair
 */
public record RepairReport(long cutLsn, List<String> keptFiles) {

    public RepairReport {
        keptFiles = List.copyOf(keptFiles);
    }

    /** Whether the repair left the store unchanged, because the store needed no repair. */
    public boolean nothingDone() {
        return keptFiles.isEmpty();
    }
}
