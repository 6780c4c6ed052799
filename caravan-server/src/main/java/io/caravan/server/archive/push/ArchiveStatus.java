package io.caravan.server.archive.push;

import java.util.Locale;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * The status of archiving at one moment.
 *
 * @param location the archive's location
 * @param state whether this server writes to the archive
 * @param epoch number of this server among the archive's owners; 0 while it does not own the archive
 * @param backlog number of changes and deletions that the archive lacks, as found by the last round through all
 *     documents; excludes changes that may wait for the next round
 * @param lagSeconds upper bound on the age of the oldest of these changes; 0 when there is none
 * @param overdueSeconds upper bound on the time by which a change exceeds the maximum age that the server, or the
 *     document's space, allows; 0 when none does
 * @param documents snapshots that were archived since the start
 * @param tombstones deletions that were archived since the start
 * @param bytes bytes that were written since the start
 * @param failures attempts that failed since the start, by kind
 * @param lastSuccessMillis when a snapshot or a deletion was last archived, in milliseconds since 1970; 0 when none was
 *     since the start
 * @param lastError the last failure, or null when there was none since the start
 * @param backOffSeconds time until the next attempt after failures; 0 when no delay is pending
 */
public record ArchiveStatus(
        String location,
        ArchiveState state,
        long epoch,
        long backlog,
        double lagSeconds,
        double overdueSeconds,
        long documents,
        long tombstones,
        long bytes,
        SortedMap<String, Long> failures,
        long lastSuccessMillis,
        @Nullable LastError lastError,
        double backOffSeconds) {

    /**
     * The last failure to archive.
     *
     * @param kind one word, as in {@link #failures()}
     * @param message names the object, the document, and what to do
     * @param atMillis when the failure occurred, in milliseconds since 1970
     */
    public record LastError(String kind, String message, long atMillis) {}

    /** Whether a server writes to its archive. */
    public enum ArchiveState {
        /** The archive cannot be reached yet, or is being taken over. The server keeps trying. */
        CLAIMING,
        /** The server owns the archive and writes to it. */
        OWNER,
        /** Another server has taken the archive over, perhaps before this one started. */
        FENCED,
        /** The archive belongs to another store. */
        REJECTED,
        /** The server is stopping. */
        STOPPED;

        /** Returns the name of the state in metrics and on web pages. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Whether the server has stopped writing to the archive, and resumes only after a restart. */
        public boolean ended() {
            return this == FENCED || this == REJECTED || this == STOPPED;
        }
    }
}
