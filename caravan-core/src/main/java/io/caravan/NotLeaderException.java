package io.caravan;

/** A write to a replica that follows another: nothing was changed. Write to the group's leader. */
public final class NotLeaderException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public NotLeaderException(String store) {
        super(store + " is a replica that follows another: write to the group's leader");
    }
}
