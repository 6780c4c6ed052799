package io.caravan;

import java.util.List;

/**
 * What a verification read, and every fault it found.
 *
 * @param checkpoints checkpoint files read
 * @param frames log frames read
 * @param lists lists in the full state
 * @param entries entries read, from the log and the heap
 * @param bytes bytes of their values
 * @param faults what is wrong, in the order found; empty when nothing is
 */
public record VerifyReport(
        int checkpoints, long frames, long lists, long entries, long bytes, List<CaravanException> faults) {

    public VerifyReport {
        faults = List.copyOf(faults);
    }

    /** The same, with other faults. */
    public VerifyReport withFaults(List<CaravanException> others) {
        return new VerifyReport(checkpoints, frames, lists, entries, bytes, others);
    }

    public boolean clean() {
        return faults.isEmpty();
    }

    /** Is called with the progress of a verification or a repair: when a step begins, and then about ten times a second at most. */
    @FunctionalInterface
    public interface Progress {
        /** Ignores the progress. */
        Progress NONE = (step, done, total) -> {};

        /**
         * A step has come this far.
         *
         * @param step what is being read: "checkpoints", "log" (its segments), "entries"; of a repair also "whole log"
         *     (up to the damage) and "copies"
         * @param done units read
         * @param total units there are
         */
        void at(String step, long done, long total);
    }
}
