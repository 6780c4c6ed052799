package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.AGES;

import io.caravan.catalog.DocumentState;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Applies the settings of spaces to a write from any protocol, between its edits and its commit. The rules first trim
 * values that are no longer retained, in the same batch. They then check the remaining sizes, the quotas, and finally
 * the rates. They never reject a write that neither appends values nor creates a document.
 *
 * <p>A document that has forks cannot be trimmed, so it grows without limit. After its last fork has been deleted, the
 * next append trims the document.
 */
final class SpaceRules {
    /** The difference between the progress of two clocks above which the wall clock has jumped. */
    private static final long JUMP_MILLIS = 1000;
    /** Maximum number of jumps to remember. Further ones are added to their predecessors, so values may stay longer. */
    private static final int MAX_JUMPS = 32;

    private final LongSupplier nanoTime;
    private final InstantSource clock;
    private final long startNanos;
    private final long startMillis;
    /** The lead of the wall clock over the monotonic clock at the last check. Guarded by this object's monitor. */
    private long aheadMillis;
    /** The latest jumps of the wall clock ahead, oldest first. Guarded by this object's monitor. */
    private final Deque<Jump> jumps = new ArrayDeque<>();

    /** A jump of the wall clock ahead, by this much, which was noticed at this time of the monotonic clock. */
    private record Jump(long nanos, long millis) {}

    SpaceRules(LongSupplier nanoTime, InstantSource clock) {
        this.nanoTime = nanoTime;
        this.clock = clock;
        this.startNanos = nanoTime.getAsLong();
        this.startMillis = clock.millis();
    }

    /**
     * Returns the time before which a value must have arrived to exceed this age. If the wall clock has jumped ahead of
     * the monotonic clock, values that arrived before the jump are not older by the length of the jump. The jump is
     * therefore subtracted until the age has passed since the jump; then all these values are that old.
     */
    private synchronized long arrivedBefore(long ageMillis) {
        long nanos = nanoTime.getAsLong();
        long now = clock.millis();
        long ahead = now - startMillis - TimeUnit.NANOSECONDS.toMillis(nanos - startNanos);
        if (ahead - aheadMillis > JUMP_MILLIS) {
            jumps.addLast(new Jump(nanos, ahead - aheadMillis));
            if (jumps.size() > MAX_JUMPS) {
                Jump oldest = jumps.removeFirst();
                Jump next = jumps.removeFirst();
                jumps.addFirst(new Jump(next.nanos, oldest.millis + next.millis));
            }
        }
        aheadMillis = ahead;
        long ageNanos = TimeUnit.MILLISECONDS.toNanos(ageMillis);
        long recent = jumps.stream()
                .filter(jump -> nanos - jump.nanos < ageNanos)
                .mapToLong(Jump::millis)
                .sum();
        return now - ageMillis - recent;
    }

    /**
     * Whether {@link #age} would change a document in the space. The values of an import begin to age at its end:
     * otherwise, an import that takes longer than the age could never succeed.
     */
    boolean ages(Space space, DocumentInfo info) {
        long ageMillis = ageMillis(space);
        if (ageMillis == 0
                || info.count() == 0
                || info.attributes().forks() > 0
                || info.attributes().importing()) {
            return false;
        }
        long now = clock.millis();
        Ages ages = info.attributes().ages();
        return ages.lacks(info.nextSequence(), now, ageMillis)
                || ages.thereAt(arrivedBefore(ageMillis)) > info.firstSequence();
    }

    private static long ageMillis(Space space) {
        return TimeUnit.SECONDS.toMillis(space.settings().get(SpaceSetting.RETAINED_SECONDS));
    }

    /** Records the values' arrival times, and trims values that are too old. Returns the number of trimmed values. */
    long age(EditedDocument document) {
        DocumentInfo info = document.evenDeleted();
        SizeDelta size = document.size();
        if (info == null || size == null || !ages(size.space(), info)) {
            return 0;
        }
        long now = clock.millis();
        long ageMillis = ageMillis(size.space());
        Ages ages = info.attributes().ages();
        long arrivedBefore = arrivedBefore(ageMillis);
        long keep = Math.min(ages.thereAt(arrivedBefore), info.nextSequence());
        if (ages.lacks(info.nextSequence(), now, ageMillis)) {
            document.set(info.attributes().with(AGES, ages.with(info.nextSequence(), now, arrivedBefore)));
        }
        if (keep <= info.firstSequence()) {
            return 0;
        }
        document.retire(keep, Objects.requireNonNull(document.evenDeleted()).attributes());
        return keep - info.firstSequence();
    }

    /**
     * Applies the settings of spaces to a write, and reserves the quotas and rates that the write needs.
     *
     * <p>Growth is counted immediately, so that two writes cannot both take the last free space; shrinkage is counted
     * only when the write is accepted. The reservations last until {@link DocumentEdits#ended}, which must be called even if
     * this method throws.
     *
     * @param sizes the effects on the sizes of the documents that belong to spaces; not empty
     * @param limited whether the write comes from a client, so that limits apply; any other write is only counted
     * @throws DocumentException {@code TOO_LARGE}, {@code OVER_QUOTA}, {@code RATE_LIMITED}
     */
    void reserve(List<SizeDelta> sizes, boolean limited) {
        for (SizeDelta size : sizes) {
            size.reserve(limited && size.appends() ? trim(size.document(), size) : 0);
        }
        if (limited) {
            for (SizeDelta size : sizes) {
                checkQuota(size, SpaceSetting.QUOTA_DOCUMENTS, sizes);
                checkQuota(size, SpaceSetting.QUOTA_BYTES, sizes);
            }
            takeRates(sizes);
        }
    }

    /** Checks the quota of a space. What the write frees in one document is available to its other documents. */
    private static void checkQuota(SizeDelta growing, SpaceSetting quota, List<SizeDelta> sizes) {
        Space space = growing.space();
        if (growing.reserved(quota) > 0
                && space.exceeds(quota, 0)
                && space.exceeds(quota, freed(space, quota, sizes))) {
            space.rejected(Space.Counter.REJECTED_QUOTAS);
            throw new DocumentException(
                    Reason.OVER_QUOTA,
                    growing.document().name(),
                    "rejects the write: its space '" + space.prefix() + "' would exceed its " + quota.key() + " of "
                            + space.settings().get(quota) + "; trim or delete documents of the space");
        }
    }

    private static long freed(Space space, SpaceSetting quota, List<SizeDelta> sizes) {
        return sizes.stream()
                .filter(size -> size.space() == space)
                .mapToLong(size -> Math.max(0, -size.reserved(quota)))
                .sum();
    }

    /** Applies the retention settings, and then checks the size limits. Returns the number of trimmed values. */
    private long trim(EditedDocument document, SizeDelta size) {
        long trimmed = age(document) + retire(document, size);
        DocumentInfo info = document.evenDeleted();
        if (info != null) {
            checkSize(size, SpaceSetting.VALUE_BYTES, size.longestBytes(), "have a value of ", " bytes");
            checkSize(size, SpaceSetting.DOCUMENT_VALUES, info.count(), "have ", " values");
            if (size.space().settings().has(SpaceSetting.DOCUMENT_BYTES)) {
                checkSize(size, SpaceSetting.DOCUMENT_BYTES, size.bytes(), "have ", " bytes");
            }
        }
        return trimmed;
    }

    /** Trims the oldest values that the space does not retain, by number and bytes, and returns their number. */
    private static long retire(EditedDocument document, SizeDelta size) {
        long most = size.space().settings().get(SpaceSetting.RETAINED_VALUES);
        long mostBytes = size.space().settings().get(SpaceSetting.RETAINED_BYTES);
        DocumentInfo info = document.evenDeleted();
        if (info == null || most == 0 && mostBytes == 0 || info.attributes().forks() > 0) {
            return 0;
        }
        long keep = info.firstSequence();
        if (most != 0) {
            keep = Math.max(keep, info.nextSequence() - most);
        }
        DocumentState list = document.list();
        if (mostBytes != 0 && list != null && size.bytes() > mostBytes) {
            keep = Math.max(keep, info.attributes().base() + size.firstWithin(list, mostBytes));
        }
        if (keep > info.firstSequence()) {
            document.retire(keep, info.attributes());
        }
        return keep - info.firstSequence();
    }

    private static void checkSize(SizeDelta size, SpaceSetting limit, long number, String what, String unit) {
        Space space = size.space();
        if (space.settings().exceeds(limit, number)) {
            space.rejected(Space.Counter.REJECTED_SIZES);
            throw new DocumentException(
                    Reason.TOO_LARGE,
                    size.document().name(),
                    "cannot " + what + number + unit + ": its space '" + space.prefix() + "' has " + limit.key() + " "
                            + space.settings().get(limit));
        }
    }

    /** Charges the growth in each space in one step, so a write can exceed the limit, as a single value can. */
    private void takeRates(List<SizeDelta> sizes) {
        Map<Space, List<SizeDelta>> growing = new LinkedHashMap<>();
        for (SizeDelta size : sizes) {
            if (size.grows()) {
                growing.computeIfAbsent(size.space(), any -> new ArrayList<>(1)).add(size);
            }
        }
        growing.forEach(this::take);
    }

    private void take(Space space, List<SizeDelta> sizes) {
        long appendedBytes = sizes.stream().mapToLong(SizeDelta::appendedBytes).sum();
        long waitNanos = space.take(nanoTime.getAsLong(), sizes.size(), appendedBytes);
        if (waitNanos > 0) {
            space.rejected(Space.Counter.REJECTED_RATES);
            long waitMillis = TimeUnit.NANOSECONDS.toMillis(waitNanos) + 1;
            throw new DocumentException(
                    Reason.RATE_LIMITED,
                    sizes.get(0).document().name(),
                    "rejects the write: its space '" + space.prefix() + "' exceeds its rate; try again in " + waitMillis
                            + " ms",
                    waitMillis,
                    0);
        }
        sizes.forEach(SizeDelta::charged);
    }
}
