package io.caravan.server.archive.push;

import java.util.Locale;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * How far an archive has got, at one moment.
 *
 * @param location where it lies
 * @param state whether this server writes to it
 * @param epoch the server's number among those that have owned the archive, 0 before it does
 * @param backlog documents that have changed since they were archived, but for those that their space lets wait, and
 *     deletions that the archive does not know, as far as the last round through all documents has found them
 * @param oldestUnarchivedSeconds an upper bound of the age of the oldest of these changes; 0 when there is none
 * @param overdueSeconds an upper bound of how much older one of these changes is than the server, or its document's
 *     space, lets it get; 0 when none is
 * @param documents snapshots that were archived since the start
 * @param tombstones deletions that were archived since the start
 * @param bytes that were written since the start
 * @param failures attempts that failed since the start, by kind
 * @param lastSuccessMillis when something was last archived, in milliseconds since 1970; 0 when nothing was since the
 *     start
 * @param lastError what failed last, or null when nothing has since the start
 * @param backOffSeconds time until the next attempt after failures; 0 when none is waited for
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
     * What failed.
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
        /** Never: the archive is another store's, or of a version that this release does not write. */
        REFUSED,
        /** No longer: the server stops. */
        STOPPED;

        /** For figures and pages. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Whether the server will not write to the archive again before it is restarted. */
        public boolean ended() {
            return this == FENCED || this == REFUSED || this == STOPPED;
        }
    }
}
