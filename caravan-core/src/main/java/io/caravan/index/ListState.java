package io.caravan.index;

/**
 * The life cycle state of a list, in one long of its record.
 *
 * <pre>
 *   63        62        61       60                                                0
 *   +---------+---------+--------+--------------------------------------------------+
 *   | removed | waiting | young  | places in the reclaim queue                      |
 *   +---------+---------+--------+--------------------------------------------------+
 *
 *   LISTED   in the table: found by its id, appended to, trimmed, read
 *     |        remove
 *   REMOVED  out of the table: readers that have it pinned continue, and its regions wait to be freed
 *     |        the last of its regions is freed, its last place in the queue used, its last pin removed
 *   OVER     its record is used for another list
 * </pre>
 *
 * <p>Trimmed or removed regions are freed in the same way in both states. The list gets a place in the reclaim queue.
 * When its turn comes, its regions are freed up to the first pinned region. If any region is pinned, the list is then
 * <em>waiting</em>, although its place has been used. The reader that removes the list's first pin gives the list a new
 * place. {@link Pins} are separate from the records.
 *
 * <p>A list is <em>young</em> while it is in the queue of lists with entries in the log.
 */
final class ListState {
    static final long LISTED = 0;

    private static final long REMOVED = 1L << 63;
    private static final long WAITING = 1L << 62;
    private static final long YOUNG = 1L << 61;
    private static final long ONE_PLACE = 1;

    private ListState() {}

    static long removed(long life) {
        return life | REMOVED;
    }

    static long waiting(long life) {
        return life | WAITING;
    }

    static long notWaiting(long life) {
        return life & ~WAITING;
    }

    static boolean isWaiting(long life) {
        return (life & WAITING) != 0;
    }

    static long young(long life) {
        return life | YOUNG;
    }

    static long notYoung(long life) {
        return life & ~YOUNG;
    }

    static boolean isYoung(long life) {
        return (life & YOUNG) != 0;
    }

    static long queued(long life) {
        return life + ONE_PLACE;
    }

    static long unqueued(long life) {
        return life - ONE_PLACE;
    }

    /**
     * Whether the list is removed and has no place in the queue, so that its life is over once it has no pins and no
     * regions.
     */
    static boolean isIdleAndRemoved(long life) {
        return notYoung(notWaiting(life)) == REMOVED;
    }
}
