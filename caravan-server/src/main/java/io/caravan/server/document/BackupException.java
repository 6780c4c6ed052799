package io.caravan.server.document;

import io.caravan.CaravanException;

/** There is no such backup, or it may not be made now. Nothing has changed. */
public final class BackupException extends CaravanException {
    private static final long serialVersionUID = 1L;

    /** What is in the way. */
    public enum Reason {
        /** The server has no directory for backups. */
        NO_BACKUPS,
        /** There is no backup of this name, nor is one being made. */
        NO_BACKUP,
        /** Another backup is being made. */
        BACKUP_UNDER_WAY,
        /** The name is in use. */
        BACKUP_EXISTS
    }

    private final Reason reason;

    BackupException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
