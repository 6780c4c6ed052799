package io.caravan.server.backup;

import io.caravan.BackupReport;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The state of a backup at one point in time.
 *
 * @param path its directory, which may not exist yet
 * @param atMillis the start time if this is the server's latest attempt; otherwise, the last modification time of the
 *     directory; in milliseconds since 1970
 * @param bytes length of the backup's files; while the backup is being made, the number of bytes copied so far
 * @param totalBytes number of bytes to copy, while the backup is being made; 0 until that number is
 *     known; grows with the log, which is copied last
 * @param report the report of the copy, if this is the server's latest attempt and is complete; otherwise null
 * @param problem the reason for its failure, or null
 */
public record BackupInfo(
        String name,
        Path path,
        State state,
        long atMillis,
        long bytes,
        long totalBytes,
        @Nullable BackupReport report,
        @Nullable String problem) {

    public enum State {
        /** The backup is being made. */
        RUNNING,
        /** The backup is complete and durable. */
        COMPLETE,
        /** The backup has failed, and its files were removed. */
        FAILED,
        /**
         * The server was killed during the backup. The files cannot be opened; the next backup with this name replaces
         * them.
         */
        ABANDONED;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
