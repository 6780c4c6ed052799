package io.caravan;

/**
 * Thrown if a write is sent to a replica that is not the leader. Nothing was changed. Send the write to the group's
 * leader.
 */
public final class NotLeaderException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public NotLeaderException(String store) {
        super(store + " is a replica that follows another: write to the group's leader");
    }
}
