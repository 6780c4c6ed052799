package io.caravan.server.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What pruning leaves of a document, or of every one alike. A generation stays if any of the first three rules says so. A
 * time in the future, which another server's clock may have written, counts as young.
 *
 * @param generations how many of a document's newest generations stay, whatever their age; at least 1, so that the
 *     latest always does
 * @param age generations that are not older stay
 * @param days for so many days, the newest generation of each day (in UTC) stays; 0 for none
 * @param retain how long a deleted document stays; at least a day, so that nobody can still be about to archive what
 *     was there before the deletion
 */
public record PrunePolicy(int generations, Duration age, int days, Duration retain) implements PrunePolicies {
    /** The least time that a deleted document stays. */
    public static final Duration LEAST_RETAIN = Duration.ofDays(1);

    /** How many generations a server keeps by default. */
    public static final String DEFAULT_GENERATIONS = "4";
    /** For how many days a server keeps every generation by default. */
    public static final String DEFAULT_AGE_DAYS = "0";
    /** For how many days a server keeps a generation a day by default. */
    public static final String DEFAULT_DAYS = "14";
    /** How many days a server keeps a deleted document by default. */
    public static final String DEFAULT_RETAIN_DAYS = "30";

    private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();

    /**
     * Checks it.
     *
     * @throws IllegalArgumentException saying what is out of range
     */
    public PrunePolicy {
        check(generations >= 1, "of each document at least one generation must be kept, not " + generations);
        check(!age.isNegative(), "generations cannot be kept for " + age);
        check(days >= 0, "one generation a day cannot be kept for " + days + " days");
        check(retain.compareTo(LEAST_RETAIN) >= 0, "deleted documents must be kept for a day at least, not " + retain);
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    @Override
    public PrunePolicy of(DocumentName name) {
        return this;
    }

    @Override
    public PrunePolicy general() {
        return this;
    }

    /** The most generations of a document that stay, but for those that are younger than {@code age}. */
    int most() {
        return generations + days;
    }

    /** The generations that stay, if the document does. */
    List<Generation> kept(Manifest manifest, long nowMillis) {
        List<Generation> kept = new ArrayList<>();
        long lastDay = Long.MAX_VALUE;
        List<Generation> all = manifest.generations();
        for (int i = all.size() - 1; i >= 0; i--) {
            Generation generation = all.get(i);
            long ageMillis = nowMillis - generation.takenAtMillis();
            long day = Math.floorDiv(generation.takenAtMillis(), DAY_MILLIS);
            boolean ofItsDay = day < lastDay && ageMillis <= days * DAY_MILLIS;
            if (kept.size() < generations || ageMillis <= age.toMillis() || ofItsDay) {
                kept.add(generation);
            }
            lastDay = Math.min(lastDay, day);
        }
        Collections.reverse(kept);
        return kept;
    }

    /** Whether a document was deleted so long ago that nothing of it stays. */
    boolean expired(Manifest manifest, long nowMillis) {
        Tombstone tombstone = manifest.tombstone();
        return tombstone != null && nowMillis - tombstone.deletedAtMillis() > retain.toMillis();
    }
}
