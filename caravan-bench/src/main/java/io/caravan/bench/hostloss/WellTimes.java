package io.caravan.bench.hostloss;

import java.util.ArrayList;
import java.util.List;

/**
 * Tracks when the archive was available, and so which changes it must contain: after a change is answered, it must be
 * archived once the archive has been available for as long as a change may wait. Used by one thread at a time.
 */
final class WellTimes {
    private record Spell(long fromNanos, long toNanos) {}

    private final List<Spell> spells = new ArrayList<>();
    private final long startNanos;
    private long wellSinceNanos;

    /**
     * Starts with the archive available.
     *
     * @param startNanos now
     */
    WellTimes(long startNanos) {
        this.startNanos = startNanos;
        wellSinceNanos = startNanos;
    }

    /** From now on the archive is unavailable. */
    void ends(long nowNanos) {
        spells.add(new Spell(wellSinceNanos, nowNanos));
    }

    /** From now on the archive is available again. */
    void beginsAgain(long nowNanos) {
        wellSinceNanos = nowNanos;
    }

    /**
     * Changes answered by this time must be archived.
     *
     * @param boundNanos how long a change may wait while the archive is available
     */
    long mustBy(long boundNanos) {
        return spells.stream()
                .filter(spell -> spell.toNanos() - spell.fromNanos() >= boundNanos)
                .mapToLong(spell -> spell.toNanos() - boundNanos)
                .reduce(startNanos, (one, two) -> two - one > 0 ? two : one);
    }
}
