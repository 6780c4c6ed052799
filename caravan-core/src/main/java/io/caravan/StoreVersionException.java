package io.caravan;

/** A file is of a format version that this release does not read. Nothing was changed. */
public final class StoreVersionException extends CaravanException {
    private static final long serialVersionUID = 1L;

    private final int found;

    public StoreVersionException(String file, int found, int oldest, int newest) {
        super(file + " is of format version " + found + "; this release reads versions " + oldest + " to " + newest
                + (found > newest ? "; open it with a newer release" : "; convert it with an older release"));
        this.found = found;
    }

    /** The version that the file names. */
    public int found() {
        return found;
    }
}
