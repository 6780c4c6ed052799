package io.caravan;

/** Thrown if the store is already open, in this process or another. */
public final class StoreLockedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreLockedException(String directory, String owner) {
        super("the store in " + directory + " is already open in " + owner + "; close it there first");
    }
}
