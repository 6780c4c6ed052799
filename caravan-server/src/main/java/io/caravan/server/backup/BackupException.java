package io.caravan.server.backup;

import io.caravan.CaravanException;

/** Thrown when a backup does not exist, or cannot be made now. The rejected request has changed nothing. */
public final class BackupException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public enum Reason {
        /** The server has no directory for backups. */
        NO_BACKUPS,
        /** No backup with this name exists or is being made. */
        NO_BACKUP,
        /** Another backup is being made. */
        BACKUP_IN_PROGRESS,
        /** A backup with this name already exists. */
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
