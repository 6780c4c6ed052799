package io.caravan.bench.engine;

import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.nio.file.Path;

/**
 * One system, at one durability level, that runs a workload.
 *
 * @param system name of the system
 * @param durability the guarantee that an append had when it was counted
 */
public record Contestant(String system, String durability, Work work) {
    public static final String CARAVAN = "Caravan";
    static final String GROWN = "Caravan, size found";
    static final String BY_HAND = "by hand";
    static final String SYNCED_EACH = "synced each append";
    static final String SYNCED_TOGETHER = "synced, shared by all that wait";
    public static final String SYNCED_BATCHES = "synced every 1,000";
    static final String UNSYNCED = "not synced, committed every 1,000";

    public interface Work {
        /**
         * Runs the workload and returns the measurement.
         *
         * @param directory a directory that does not exist yet, and that is deleted afterward
         */
        Measurement run(Path directory) throws IOException, InterruptedException;
    }
}
