package io.caravan;

/**
 * Thrown if a directory cannot contain a store because it is a file, is not writable, contains unknown files, or lacks
 * a required file. Nothing in the directory was changed.
 */
public final class StoreDirectoryException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreDirectoryException(String message) {
        super(message);
    }
}
