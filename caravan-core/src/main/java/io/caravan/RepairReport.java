package io.caravan;

import java.util.List;

/**
 * The result of a repair.
 *
 * @param cutLsn the LSN from which everything was cut off; -1 if nothing was cut off
 * @param keptFiles the copies of all files that were changed or removed, as they were before the repair
 */
public record RepairReport(long cutLsn, List<String> keptFiles) {

    public RepairReport {
        keptFiles = List.copyOf(keptFiles);
    }

    /** Whether nothing needed repair and nothing was changed. */
    public boolean nothingDone() {
        return keptFiles.isEmpty();
    }
}
