package io.caravan.server.archive;

import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.config.Quantities;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The retention policy of one document, or of all documents. A generation stays if any of the first three rules keeps
 * it. A time in the future, which another server's clock may have written, counts as recent.
 *
 * @param generations number of a document's newest generations to keep at any age; at least 1
 * @param age generations up to this age are kept
 * @param days number of days for which the newest generation of each day (in UTC) is kept; 0 for none
 * @param retain time for which a deleted document is kept; at least a day, so that no server can still be archiving a
 *     state from before the deletion
 */
public record PrunePolicy(int generations, Duration age, int days, Duration retain) {
    /** The minimum time for which a deleted document is kept. */
    public static final Duration LEAST_RETAIN = Duration.ofDays(1);

    /** The default number of generations that a server keeps. */
    public static final String DEFAULT_GENERATIONS = "4";
    /** The default number of days for which a server keeps every generation. */
    public static final String DEFAULT_AGE_DAYS = "0";
    /** The default number of days for which a server keeps one generation a day. */
    public static final String DEFAULT_DAYS = "14";
    /** The default number of days for which a server keeps a deleted document. */
    public static final String DEFAULT_RETAIN_DAYS = "30";

    private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();

    /** Throws an {@link IllegalArgumentException} that names the value that is out of range. */
    public PrunePolicy {
        Quantities.check(generations >= 1, "at least one generation of each document must be kept, not " + generations);
        Quantities.check(!age.isNegative(), "generations cannot be kept for " + age);
        Quantities.check(days >= 0, "one generation a day cannot be kept for " + days + " days");
        Quantities.check(
                retain.compareTo(LEAST_RETAIN) >= 0,
                "deleted documents must be kept for at least a day, not " + retain);
    }

    /** Returns the maximum number of generations of a document that are kept regardless of {@code age}. */
    int most() {
        return generations + days;
    }

    /** Returns the generations to keep, provided that the document itself is kept. */
    List<Generation> kept(Manifest manifest, long nowMillis) {
        List<Generation> kept = new ArrayList<>();
        Set<Long> seenDays = new HashSet<>();
        List<Generation> all = manifest.generations();
        for (int i = all.size() - 1; i >= 0; i--) {
            Generation generation = all.get(i);
            long ageMillis = nowMillis - generation.takenAtMillis();
            long day = Math.floorDiv(generation.takenAtMillis(), DAY_MILLIS);
            boolean newestOfDay = seenDays.add(day) && ageMillis <= days * DAY_MILLIS;
            if (kept.size() < generations || ageMillis <= age.toMillis() || newestOfDay) {
                kept.add(generation);
            }
        }
        Collections.reverse(kept);
        return kept;
    }

    /** Whether a document's deletion is older than {@code retain}. */
    boolean expired(Manifest manifest, long nowMillis) {
        Tombstone tombstone = manifest.tombstone();
        return tombstone != null && nowMillis - tombstone.deletedAtMillis() > retain.toMillis();
    }
}
