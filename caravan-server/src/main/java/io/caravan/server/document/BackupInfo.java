package io.caravan.server.document;

import io.caravan.BackupReport;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A backup, at one moment.
 *
 * @param path its folder, or where that will be
 * @param atMillis when it began; of one that this server has not just made, when its folder was last changed
 * @param bytes of its files; of one that is being made, copied so far
 * @param totalBytes there are to copy, while it is being made; 0 before that is known
 * @param report what it has, if it is the last that this server has made; else null
 * @param problem why it has failed, or null
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

    /** What has become of it. */
    public enum State {
        /** It is being made. */
        RUNNING,
        /** It is whole and durable. */
        COMPLETE,
        /** It has failed, and nothing is left of it. */
        FAILED,
        /** A server was killed while it made it. What is left opens no store; the next backup of its name replaces it. */
        ABANDONED;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
