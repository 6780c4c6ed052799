package io.caravan.bench.hostloss;

import java.util.ArrayList;
import java.util.List;

/**
 * When the archive could be reached, and what must be in it therefore: a change is archived when the archive was well for as
 * long as a change may wait, after the change was answered. Used by one thread at a time.
 */
final class WellTimes {
    private record Spell(long fromNanos, long toNanos) {}

    private final List<Spell> spells = new ArrayList<>();
    private final long startNanos;
    private long wellSinceNanos;

    /**
     * It is well.
     *
     * @param startNanos now
     */
    WellTimes(long startNanos) {
        this.startNanos = startNanos;
        wellSinceNanos = startNanos;
    }

    /** From now on it is not. */
    void ends(long nowNanos) {
        spells.add(new Spell(wellSinceNanos, nowNanos));
    }

    /** From now on it is again. */
    void beginsAgain(long nowNanos) {
        wellSinceNanos = nowNanos;
    }

    /**
     * What was answered by then must be archived.
     *
     * @param boundNanos how long a change may wait while all is well
     */
    long mustBy(long boundNanos) {
        return spells.stream()
                .filter(spell -> spell.toNanos() - spell.fromNanos() >= boundNanos)
                .mapToLong(spell -> spell.toNanos() - boundNanos)
                .reduce(startNanos, (one, two) -> two - one > 0 ? two : one);
    }
}
