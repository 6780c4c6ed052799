package io.caravan;

/**
 * Thrown if a replica cannot replay a frame. The reasons are:
 *
 * <ul>
 *   <li>The frame is damaged, or belongs to another store.
 *   <li>The frame leaves a gap after the replica's last frame.
 *   <li>The frame does not fit in the replica's segments.
 *   <li>The frame contradicts the replica's contents.
 *   <li>Another frame already occupies the frame's position in the log; see {@link #placeTaken()}.
 * </ul>
 */
public final class FrameRejectedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    private final boolean placeTaken;

    public FrameRejectedException(String message, boolean placeTaken) {
        super(message);
        this.placeTaken = placeTaken;
    }

    /**
     * Whether another frame already follows this frame's predecessor in the replica's log. If the group has committed
     * the other frame before this frame, every replica that replayed the same earlier frames rejects this frame, and
     * may skip it. In all other cases, a replica that skipped the frame would lack a frame that the group has.
     */
    public boolean placeTaken() {
        return placeTaken;
    }
}
