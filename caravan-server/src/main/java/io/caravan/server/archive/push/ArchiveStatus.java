package io.caravan.server.archive.push;

import java.util.Locale;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * The status of archiving at one moment.
 *
 * @param location the archive's location
 * @param state whether this server writes to it
 * @param epoch the server's number among those that have owned the archive, 0 before it does
 * @param backlog number of changed documents, without those that their space allows to wait, and of deletions that the
 *     archive lacks, as found by the last round through all documents
 * @param oldestUnarchivedSeconds upper bound on the age of the oldest of these changes; 0 when there is none
 * @param overdueSeconds upper bound on the time by which one of these changes exceeds the maximum age that the server,
 *     or its document's space, allows; 0 when none does
 * @param documents snapshots that were archived since the start
 * @param tombstones deletions that were archived since the start
 * @param bytes that were written since the start
 * @param failures attempts that failed since the start, by kind
 * @param lastSuccessMillis when something was last archived, in milliseconds since 1970; 0 when nothing was since the
 *     start
 * @param lastError the last failure, or null when there was none since the start
 * @param backOffSeconds time until the next attempt after failures; 0 when no delay is pending
 */
public record ArchiveStatus(
        String location,
        ArchiveState state,
        long epoch,
        long backlog,
        double oldestUnarchivedSeconds,
        double overdueSeconds,
        long documents,
        long tombstones,
        long bytes,
        SortedMap<String, Long> failures,
        long lastSuccessMillis,
        @Nullable LastError lastError,
        double backOffSeconds) {

    /**
     * A failure.
     *
     * @param kind in one word, as in {@link #failures()}
     * @param message names the object, the document, and what to do
     * @param atMillis when, in milliseconds since 1970
     */
    public record LastError(String kind, String message, long atMillis) {}

    /** Whether a server writes to its archive. */
    public enum ArchiveState {
        /** Not yet: the archive cannot be reached, or is just being taken over. The server keeps trying. */
        CLAIMING,
        /** Yes. */
        OWNER,
        /** No longer: another server has taken the archive over, perhaps before this one started. */
        FENCED,
        /** Never: the archive is another store's. */
        REFUSED,
        /** No longer: the server stops. */
        STOPPED;

        /** The name in metrics and pages. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Whether the server will not write to the archive again before it is restarted. */
        public boolean ended() {
            return this == FENCED || this == REFUSED || this == STOPPED;
        }
    }
}
