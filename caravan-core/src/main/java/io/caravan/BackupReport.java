package io.caravan;

/**
 * What a backup of an open store has.
 *
 * @param lsn the backup is the store as it was, durably, when its log ended here
 * @param checkpoint number of the checkpoint that it was built on
 * @param files files copied
 * @param bytes their sizes together; what was never written takes no space in the copy either
 */
public record BackupReport(long lsn, long checkpoint, int files, long bytes) {

    /**
     * Is called after each portion that was copied, on the thread that copies. What it throws ends the backup, leaves
     * nothing of it, and comes out of it: that is how to cancel one.
     */
    @FunctionalInterface
    public interface Progress {
        /** Ignores the progress. */
        Progress NONE = (done, total) -> {};

        /**
         * The backup has come this far.
         *
         * @param done bytes copied
         * @param total bytes there are to copy; grows with the log, which is copied last
         */
        void at(long done, long total);
    }
}
