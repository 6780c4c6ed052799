package io.caravan.torture.hostloss;

import java.util.ArrayList;
import java.util.List;

/**
 * Tracks when the archive was available, and therefore which changes it must contain. An acknowledged change must be
 * archived once the archive has been available for the longest time that a change may remain unarchived. Used by one
 * thread at a time.
 */
final class WellTimes {
    private record Spell(long fromNanos, long toNanos) {}

    private final List<Spell> spells = new ArrayList<>();
    private final long startNanos;
    private long wellSinceNanos;

    /**
     * Creates an instance for an archive that is available now.
     *
     * @param startNanos the current time
     */
    WellTimes(long startNanos) {
        this.startNanos = startNanos;
        wellSinceNanos = startNanos;
    }

    /** Records that the archive has become unavailable at this time. */
    void ends(long nowNanos) {
        spells.add(new Spell(wellSinceNanos, nowNanos));
    }

    /** Records that the archive has become available again at this time. */
    void beginsAgain(long nowNanos) {
        wellSinceNanos = nowNanos;
    }

    /**
     * Returns the latest time such that all changes acknowledged by then must be archived.
     *
     * @param boundNanos longest time that a change may remain unarchived while the archive is available
     */
    long mustBy(long boundNanos) {
        return spells.stream()
                .filter(spell -> spell.toNanos() - spell.fromNanos() >= boundNanos)
                .mapToLong(spell -> spell.toNanos() - boundNanos)
                .reduce(startNanos, (one, two) -> two - one > 0 ? two : one);
    }
}
