package io.caravan;

/**
 * A replica cannot repeat a frame: it is damaged, of another store, leaves a gap behind the replica's last frame, does not
 * fit its segments, or contradicts its contents, or another frame has its place. Only in the last case has every replica
 * that repeated the same frames before left it out, too; see {@link #placeTaken()}.
 */
public final class FrameRefusedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    private final boolean placeTaken;

    public FrameRefusedException(String message, boolean placeTaken) {
        super(message);
        this.placeTaken = placeTaken;
    }

    /**
     * Whether the replica has another frame behind the one that this frame follows. If the group has committed both, in
     * this order, every replica leaves this one out. In all other cases a replica that goes on lacks what the group has.
     */
    public boolean placeTaken() {
        return placeTaken;
    }
}
