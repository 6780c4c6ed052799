package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.AGES;

import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentState;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Applies the settings of a space to one of the documents in a write from any protocol, between its edits and its
 * commit. The rules first trim values that are no longer retained, in the same batch. They then check the remaining
 * sizes, the quotas, and finally the rates. They never reject a write that neither appends values nor creates a
 * document.
 *
 * <p>A document that has forks cannot be trimmed, so it grows without limit. After its last fork has been deleted, the
 * next append trims the document.
 *
 * <p>Sequences refer to the document's own list. The size of the list is looked up in the store only if values were
 * removed or a limit requires the size. Used under the lock of the document's name, until the write is committed.
 */
final class SpaceRules {
    private final EditedDocument document;
    private final Space space;
    private final Expiry clocks;
    private final ListStore store;
    private final @Nullable DocumentState before;
    /** The document that has replaced the original document in this write, or null. */
    private @Nullable DocumentState taken;
    /** The values that the write has appended, which are the last values of the list. */
    private final List<byte[]> appended = new ArrayList<>(1);

    /** The length of all values that the write has appended, including those that it has since deleted. */
    private long appendedBytes;
    /** The length of the longest value that was appended since the last deletion, excluding its arrival time. */
    private int longestBytes;

    private boolean everAppended;
    /** Whether the write is charged to the rate limits of the space. */
    private boolean charged;
    /** The reserved changes to the space's numbers of documents and bytes; may be negative. */
    private int documents;

    private long bytes;
    private long trimmedValues;

    SpaceRules(EditedDocument document, Space space) {
        this.document = document;
        this.space = space;
        this.clocks = document.edits.service.expiry;
        this.store = document.edits.service.store;
        this.before = document.list();
    }

    Space space() {
        return space;
    }

    /**
     * Records values that the write appends.
     *
     * @param values as they are stored
     * @param moreBytes number of bytes that the server has added to each value
     */
    void appended(List<byte[]> values, int moreBytes) {
        everAppended = true;
        for (byte[] value : values) {
            appended.add(value);
            appendedBytes += value.length;
            longestBytes = Math.max(longestBytes, value.length - moreBytes);
        }
    }

    void deleted() {
        appended.clear();
        longestBytes = 0;
    }

    void tookOver(DocumentState other) {
        taken = other;
    }

    /** Whether the write creates the document or has appended values, even if these values have since been deleted. */
    private boolean grows() {
        return everAppended || before == null && document.list() != null;
    }

    /**
     * Applies the settings of spaces to a write, and reserves the quotas and rates that the write needs.
     *
     * <p>Growth is counted immediately, so that two writes cannot both take the last free space; shrinkage is counted
     * only when the write is accepted. The reservations last until {@link #ended}, which must be called even if this
     * method throws.
     *
     * @param all the rules of all documents of the write that belong to spaces; not empty
     * @param limited whether the write comes from a client, so that limits apply; any other write is only counted
     * @throws DocumentException {@code TOO_LARGE}, {@code OVER_QUOTA}, {@code RATE_LIMITED}
     */
    static void reserve(List<SpaceRules> all, boolean limited) {
        for (SpaceRules each : all) {
            each.reserve(limited);
        }
        if (limited) {
            Map<Space, List<SpaceRules>> growing = new LinkedHashMap<>();
            for (SpaceRules each : all) {
                each.checkQuota(SpaceSetting.QUOTA_DOCUMENTS, all);
                each.checkQuota(SpaceSetting.QUOTA_BYTES, all);
                if (each.grows()) {
                    growing.computeIfAbsent(each.space, any -> new ArrayList<>(1))
                            .add(each);
                }
            }
            growing.forEach(SpaceRules::takeRate);
        }
    }

    private void reserve(boolean limited) {
        // Values that the write has appended and deleted need no limits.
        trimmedValues = limited && !appended.isEmpty() ? trim() : 0;
        bytes = moreBytes();
        documents = (document.list() == null ? 0 : 1) - (before == null ? 0 : 1);
        count(Math.max(0, documents), Math.max(0, bytes));
    }

    /** Completes the reservations of an accepted write, or undoes those of a rejected write and refunds the charge. */
    void ended(boolean accepted) {
        if (accepted) {
            count(Math.min(0, documents), Math.min(0, bytes));
            if (grows()) {
                space.wrote(appendedBytes, trimmedValues);
            }
        } else {
            count(-Math.max(0, documents), -Math.max(0, bytes));
            if (charged) {
                space.refund(1, appendedBytes);
            }
        }
    }

    private void count(long moreDocuments, long moreBytes) {
        if (moreDocuments != 0 || moreBytes != 0) {
            space.count(Catalog.stripeOf(document.name()), moreDocuments, moreBytes);
        }
    }

    /** Checks a quota of the space. What the write frees in one document is available to its other documents. */
    private void checkQuota(SpaceSetting quota, List<SpaceRules> all) {
        if (reserved(quota) > 0 && space.exceeds(quota, 0) && space.exceeds(quota, freed(quota, all))) {
            space.rejected(Space.Counter.REJECTED_QUOTAS);
            throw new DocumentException(
                    Reason.OVER_QUOTA,
                    document.name(),
                    "rejects the write: its space '" + space.prefix() + "' would exceed its " + quota.key() + " of "
                            + space.settings().get(quota) + "; trim or delete documents of the space");
        }
    }

    /** Returns the reserved amount of a quota, which is negative if the write frees space. */
    private long reserved(SpaceSetting quota) {
        return quota == SpaceSetting.QUOTA_DOCUMENTS ? documents : bytes;
    }

    private long freed(SpaceSetting quota, List<SpaceRules> all) {
        return all.stream()
                .filter(each -> each.space == space)
                .mapToLong(each -> Math.max(0, -each.reserved(quota)))
                .sum();
    }

    /** Charges the growth in a space in one step, so a write can exceed the limit, as a single value can. */
    private static void takeRate(Space space, List<SpaceRules> growing) {
        long bytes = growing.stream().mapToLong(each -> each.appendedBytes).sum();
        long waitNanos = space.take(growing.get(0).clocks.nanos(), growing.size(), bytes);
        if (waitNanos > 0) {
            space.rejected(Space.Counter.REJECTED_RATES);
            long waitMillis = TimeUnit.NANOSECONDS.toMillis(waitNanos) + 1;
            throw new DocumentException(
                    Reason.RATE_LIMITED,
                    growing.get(0).document.name(),
                    "rejects the write: its space '" + space.prefix() + "' exceeds its rate; try again in " + waitMillis
                            + " ms",
                    waitMillis,
                    0);
        }
        growing.forEach(each -> each.charged = true);
    }

    /** Applies the retention settings, and then checks the size limits. Returns the number of trimmed values. */
    private long trim() {
        long trimmed = age() + retire();
        DocumentInfo info = document.evenDeleted();
        if (info != null) {
            checkSize(SpaceSetting.VALUE_BYTES, longestBytes, "have a value of ", " bytes");
            checkSize(SpaceSetting.DOCUMENT_VALUES, info.count(), "have ", " values");
            if (space.settings().has(SpaceSetting.DOCUMENT_BYTES)) {
                checkSize(SpaceSetting.DOCUMENT_BYTES, bytesAfter(), "have ", " bytes");
            }
        }
        return trimmed;
    }

    private void checkSize(SpaceSetting limit, long number, String what, String unit) {
        if (space.settings().exceeds(limit, number)) {
            space.rejected(Space.Counter.REJECTED_SIZES);
            throw new DocumentException(
                    Reason.TOO_LARGE,
                    document.name(),
                    "cannot " + what + number + unit + ": its space '" + space.prefix() + "' has " + limit.key() + " "
                            + space.settings().get(limit));
        }
    }

    /**
     * Whether {@link #age} would change a document in the space. The values of an import begin to age at its end:
     * otherwise, an import that takes longer than the age could never succeed.
     */
    static boolean ages(Space space, DocumentInfo info, Expiry clocks) {
        long ageMillis = ageMillis(space);
        if (ageMillis == 0
                || info.count() == 0
                || info.attributes().forks() > 0
                || info.attributes().importing()) {
            return false;
        }
        Ages ages = info.attributes().ages();
        return ages.lacks(info.nextSequence(), clocks.nowMillis(), ageMillis)
                || ages.thereAt(clocks.arrivedBefore(ageMillis)) > info.firstSequence();
    }

    private static long ageMillis(Space space) {
        return TimeUnit.SECONDS.toMillis(space.settings().get(SpaceSetting.RETAINED_SECONDS));
    }

    /** Records the values' arrival times, and trims values that are too old. Returns the number of trimmed values. */
    long age() {
        DocumentInfo info = document.evenDeleted();
        if (info == null || !ages(space, info, clocks)) {
            return 0;
        }
        long now = clocks.nowMillis();
        long ageMillis = ageMillis(space);
        Ages ages = info.attributes().ages();
        long arrivedBefore = clocks.arrivedBefore(ageMillis);
        long keep = Math.min(ages.thereAt(arrivedBefore), info.nextSequence());
        if (ages.lacks(info.nextSequence(), now, ageMillis)) {
            document.set(info.attributes().with(AGES, ages.with(info.nextSequence(), now, arrivedBefore)));
        }
        if (keep <= info.firstSequence()) {
            return 0;
        }
        document.retire(keep);
        return keep - info.firstSequence();
    }

    /** Trims the oldest values that the space does not retain, by number and bytes, and returns their number. */
    private long retire() {
        long most = space.settings().get(SpaceSetting.RETAINED_VALUES);
        long mostBytes = space.settings().get(SpaceSetting.RETAINED_BYTES);
        DocumentInfo info = document.evenDeleted();
        if (info == null || most == 0 && mostBytes == 0 || info.attributes().forks() > 0) {
            return 0;
        }
        long keep = info.firstSequence();
        if (most != 0) {
            keep = Math.max(keep, info.nextSequence() - most);
        }
        DocumentState list = document.list();
        if (mostBytes != 0 && list != null && bytesAfter() > mostBytes) {
            keep = Math.max(keep, info.attributes().base() + firstWithin(list, mostBytes));
        }
        if (keep > info.firstSequence()) {
            document.retire(keep);
        }
        return keep - info.firstSequence();
    }

    /** Returns the total length of the values in the list after the write, in bytes. */
    private long bytesAfter() {
        DocumentState after = document.list();
        return after == null ? 0 : kept(after) + appendedFrom(after);
    }

    /** Returns the number of bytes by which the write changes the total length of the values in the list. */
    private long moreBytes() {
        DocumentState after = document.list();
        boolean same = after != null
                && taken == null
                && (before == null || before.id() == after.id() && before.firstSequence() == after.firstSequence());
        if (after != null && same) {
            return appendedFrom(after);
        }
        return bytesAfter() - (before == null ? 0 : storedBytes(before));
    }

    private long storedBytes(DocumentState list) {
        ListInfo info = store.accepted(list.id());
        return info == null ? 0 : info.bytes();
    }

    /** Returns the list that the write has kept, as it was before the write; null if the write has created the list. */
    private @Nullable DocumentState keptList(DocumentState after) {
        DocumentState list = taken == null ? before : taken;
        return list != null && list.id() == after.id() ? list : null;
    }

    /** Returns the total length, in bytes, of the values that existed before the write and were not removed by it. */
    private long kept(DocumentState after) {
        DocumentState list = keptList(after);
        if (list == null || after.firstSequence() >= list.nextSequence()) {
            return 0;
        }
        Oldest dropped = new Oldest(after.firstSequence() - list.firstSequence(), Long.MAX_VALUE);
        if (dropped.lacks()) {
            store.acceptedLengths(list.id(), dropped::add);
        }
        return storedBytes(list) - dropped.bytes;
    }

    private long appendedFrom(DocumentState after) {
        long firstAppended = after.nextSequence() - appended.size();
        long length = 0;
        for (int i = (int) Math.max(0, after.firstSequence() - firstAppended); i < appended.size(); i++) {
            length += appended.get(i).length;
        }
        return length;
    }

    /**
     * Returns the lowest sequence such that the values from there to the end of the list take at most this many bytes,
     * or the sequence of the last value if it alone is longer. The entire list takes more.
     */
    private long firstWithin(DocumentState after, long mostBytes) {
        DocumentState list = keptList(after);
        long first = list == null ? after.nextSequence() - appended.size() : list.firstSequence();
        long allBytes = list == null ? 0 : storedBytes(list);
        for (byte[] value : appended) {
            allBytes += value.length;
        }
        Oldest excess = new Oldest(after.nextSequence() - 1 - first, allBytes - mostBytes);
        if (list != null && excess.lacks()) {
            store.acceptedLengths(list.id(), excess::add);
        }
        for (int i = 0; i < appended.size() && excess.lacks(); i++) {
            excess.add(appended.get(i).length);
        }
        return first + excess.values;
    }

    /** The oldest values of a list: as many as have reached one of two limits together. */
    private static final class Oldest {
        private final long mostValues;
        private final long enoughBytes;
        private long values;
        private long bytes;

        Oldest(long mostValues, long enoughBytes) {
            this.mostValues = mostValues;
            this.enoughBytes = enoughBytes;
        }

        boolean lacks() {
            return values < mostValues && bytes < enoughBytes;
        }

        boolean add(int length) {
            values++;
            bytes += length;
            return lacks();
        }
    }
}
