package io.caravan;

import java.util.List;

/**
 * The result of a verification: the amount of data that was read, and all faults.
 *
 * @param checkpoints number of checkpoint files read
 * @param frames number of log frames read
 * @param lists number of lists in the recovered state
 * @param entries number of entries read, from the log and the heap
 * @param bytes total length of their values, in bytes
 * @param faults the faults in the order found; empty if the store is intact
 */
public record VerifyReport(
        int checkpoints, long frames, long lists, long entries, long bytes, List<CaravanException> faults) {

    public VerifyReport {
        faults = List.copyOf(faults);
    }

    /** Returns a copy of this report in which these faults replace the existing faults. */
    public VerifyReport withFaults(List<CaravanException> others) {
        return new VerifyReport(checkpoints, frames, lists, entries, bytes, others);
    }

    public boolean clean() {
        return faults.isEmpty();
    }

    /**
     * Receives the progress of a verification or a repair: once when a step begins, and then at most about ten times a
     * second.
     */
    @FunctionalInterface
    public interface Progress {
        /** A listener that ignores all progress reports. */
        Progress NONE = (step, done, total) -> {};

        /**
         * Reports the progress of a step.
         *
         * @param step the data being read: "checkpoints", "log" (its segments), or "entries"; for a repair also "whole
         *     log" (up to the damage) and "copies"; for a salvage "checkpoints", "log", or "lists"
         * @param done units read
         * @param total total number of units
         */
        void at(String step, long done, long total);
    }
}
