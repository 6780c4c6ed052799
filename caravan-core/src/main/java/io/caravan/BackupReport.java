package io.caravan;

/**
 * The result of a backup of an open store.
 *
 * @param lsn the LSN at which the backup's log ends: the backup contains the durable state of the store at this LSN
 * @param checkpoint number of the checkpoint on which the backup is based
 * @param files number of files copied
 * @param bytes total size of these files; ranges that were never written take no disk space in the copy
 */
public record BackupReport(long lsn, long checkpoint, int files, long bytes) {

    /**
     * Receives the progress of a backup after each copied chunk, on the thread that runs the backup. To cancel the
     * backup, throw an exception: the backup removes the copied files and rethrows the exception.
     */
    @FunctionalInterface
    public interface Progress {
        /** A listener that ignores the progress of the backup. */
        Progress NONE = (done, total) -> {};

        /**
         * Reports the progress of the backup.
         *
         * @param done number of bytes copied
         * @param total number of bytes to copy; grows with the log, which is copied last
         */
        void at(long done, long total);
    }
}
