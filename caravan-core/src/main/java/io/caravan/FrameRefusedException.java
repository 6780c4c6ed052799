package io.caravan;

/**
 * A frame that a replica cannot repeat: it is damaged, of another store, leaves a gap behind what the replica has, or
 * differs from what it has in the same place. Every replica that has repeated the same frames before refuses it too.
 * Nothing was changed.
 */
public final class FrameRefusedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public FrameRefusedException(String message) {
        super(message);
    }
}
