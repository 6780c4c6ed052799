package io.caravan.server.document;

import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentState;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The effect of a write on the size of a document in a space. Sequences refer to the document's own list. The size of
 * the list is looked up in the store only if values were removed or a limit requires the size. Used under the lock of
 * the document's name, until the write is committed.
 */
final class SizeDelta {
    private final EditedDocument document;
    private final Space space;
    private final @Nullable DocumentState before;
    /** The document that has replaced the original document in this write, or null. */
    private @Nullable DocumentState taken;
    /** The values that the write has appended, which are the last values of the list. */
    private final List<byte[]> appended = new ArrayList<>(1);

    private long appendedBytes;
    private int longestBytes;
    private boolean everAppended;
    /** Whether the write is charged to the rate limits of the space. */
    private boolean charged;
    /** The reserved changes to the space's numbers of documents and bytes; may be negative. */
    private int documents;

    private long bytes;
    private long trimmedValues;

    SizeDelta(EditedDocument document, Space space) {
        this.document = document;
        this.space = space;
        this.before = document.list();
    }

    private ListStore store() {
        return document.edits.service.store;
    }

    EditedDocument document() {
        return document;
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
    }

    void tookOver(DocumentState other) {
        taken = other;
    }

    /** Whether the write creates the document or has appended values, even if these values have since been deleted. */
    boolean grows() {
        return everAppended || before == null && document.list() != null;
    }

    /** Whether the write has appended values, even if it has trimmed them, and has not deleted the document since. */
    boolean appends() {
        return !appended.isEmpty();
    }

    /** Returns the length of all values that the write has appended, including those that it has since deleted. */
    long appendedBytes() {
        return appendedBytes;
    }

    /** Returns the length of the longest appended value, in bytes, excluding its arrival time. */
    int longestBytes() {
        return longestBytes;
    }

    /**
     * Reserves the quotas: growth is counted immediately, and shrinkage when the write is accepted.
     *
     * @param trimmed the number of values that the write trims because the space does not retain them
     */
    void reserve(long trimmed) {
        trimmedValues = trimmed;
        bytes = moreBytes();
        documents = (document.list() == null ? 0 : 1) - (before == null ? 0 : 1);
        count(Math.max(0, documents), Math.max(0, bytes));
    }

    void charged() {
        charged = true;
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

    /** Returns the reserved amount of a quota, which is negative if the write frees space. */
    long reserved(SpaceSetting quota) {
        return quota == SpaceSetting.QUOTA_DOCUMENTS ? documents : bytes;
    }

    /** Returns the total length of the values in the list after the write, in bytes. */
    long bytes() {
        DocumentState after = document.list();
        return after == null ? 0 : kept(after) + appendedFrom(after);
    }

    /** Returns the number of bytes by which the write changes the total length of the values in the list. */
    private long moreBytes() {
        DocumentState after = document.list();
        if (after != null && taken == null && (before == null || isSame(before, after))) {
            return appendedFrom(after);
        }
        return bytes() - (before == null ? 0 : storedBytes(before));
    }

    private static boolean isSame(DocumentState before, DocumentState after) {
        return before.id() == after.id() && before.firstSequence() == after.firstSequence();
    }

    private long storedBytes(DocumentState list) {
        ListInfo info = store().accepted(list.id());
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
            store().acceptedLengths(list.id(), dropped::add);
        }
        return storedBytes(list) - dropped.bytes;
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

    private long appendedFrom(DocumentState after) {
        long bytes = 0;
        for (int i = (int) Math.max(0, after.firstSequence() - firstAppended(after)); i < appended.size(); i++) {
            bytes += appended.get(i).length;
        }
        return bytes;
    }

    private long firstAppended(DocumentState after) {
        return after.nextSequence() - appended.size();
    }

    /**
     * Returns the lowest sequence such that the values from there to the end of the list take at most this many bytes,
     * or the sequence of the last value if it alone is longer. The entire list takes more.
     */
    long firstWithin(DocumentState after, long mostBytes) {
        DocumentState list = keptList(after);
        long first = list == null ? firstAppended(after) : list.firstSequence();
        long allBytes = list == null ? 0 : storedBytes(list);
        for (byte[] value : appended) {
            allBytes += value.length;
        }
        Oldest excess = new Oldest(after.nextSequence() - 1 - first, allBytes - mostBytes);
        if (list != null && excess.lacks()) {
            store().acceptedLengths(list.id(), excess::add);
        }
        for (int i = 0; i < appended.size() && excess.lacks(); i++) {
            excess.add(appended.get(i).length);
        }
        return first + excess.values;
    }
}
