package io.caravan.server.archive.push;

import java.util.Locale;

/** Whether a server writes to its archive. */
public enum ArchiveState {
    /** Not yet: the archive cannot be reached, or is just being taken over. It is tried again and again. */
    CLAIMING,
    /** It does. */
    OWNER,
    /** No more: another server has taken the archive over, perhaps before this one started. */
    FENCED,
    /** Never: the archive is another store's, or of a version that this release does not write. */
    REFUSED,
    /** No more: the server stops. */
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
