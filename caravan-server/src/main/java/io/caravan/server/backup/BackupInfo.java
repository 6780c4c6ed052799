package io.caravan.server.backup;

import io.caravan.BackupReport;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The state of a backup at one moment. Of the latest attempt, {@code atMillis} is the start time; of any other, it is
 * the modification time of the directory. While the backup is being made, {@code bytes} is the number of copied bytes,
 * and {@code totalBytes} the number to copy, which is 0 until it is known, and grows with the log. Only a complete
 * latest attempt has a report.
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

    BackupInfo with(State newState, long done, long total, @Nullable BackupReport made, @Nullable String failure) {
        return new BackupInfo(name, path, newState, atMillis, done, total, made, failure);
    }

    public enum State {
        /** The backup is being made. */
        RUNNING,
        /** The backup is complete and durable. */
        COMPLETE,
        /** The backup has failed, and its files were removed. */
        FAILED,
        /** The server was killed during the backup; the next backup with this name replaces the files. */
        ABANDONED;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
