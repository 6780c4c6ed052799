package io.caravan;

/**
 * Reports that a directory cannot hold this store: it is a file, is not writable, contains unknown files, or lacks a
 * file. Nothing in it was changed.
 */
public final class StoreDirectoryException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreDirectoryException(String message) {
        super(message);
    }
}
