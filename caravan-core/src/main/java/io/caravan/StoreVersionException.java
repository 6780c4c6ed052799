package io.caravan;

/** Thrown if this release cannot read the format version of a file. Nothing was changed. */
public final class StoreVersionException extends CaravanException {
    private static final long serialVersionUID = 1L;

    private final int found;

    public StoreVersionException(String file, int found, int oldest, int newest) {
        super(file + " is of format version " + found + "; this release reads versions " + oldest + " to " + newest
                + (found > newest ? "; open it with a newer release" : "; convert it with an older release"));
        this.found = found;
    }

    /** Returns the format version of the file. */
    public int found() {
        return found;
    }
}
