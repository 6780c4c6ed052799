package io.caravan;

import java.util.List;

/**
 * What a repair did.
 *
 * @param cutLsn the log position from which on everything was cut off; -1 when nothing was
 * @param keptFiles copies of every file that was changed or removed, as they were
 */
public record RepairReport(long cutLsn, List<String> keptFiles) {

    public RepairReport {
        keptFiles = List.copyOf(keptFiles);
    }

    /** Whether there was nothing to repair, and nothing was changed. */
    public boolean nothingDone() {
        return keptFiles.isEmpty();
    }
}
