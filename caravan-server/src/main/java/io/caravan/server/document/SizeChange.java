package io.caravan.server.document;

import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.catalog.DocumentState;
import io.caravan.server.document.space.Space;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a change makes of the size of a document in a space. Sequences are those of the document's own list. The store is
 * asked for what lies in it only when something was dropped, or a limit needs it. Used under the lock of the document's
 * name, until the change is committed.
 */
final class SizeChange {
    private static final long UNKNOWN = -1;

    private final Space space;
    private final @Nullable DocumentState before;
    /** A document that the change has put in the place of the one before. */
    private @Nullable DocumentState taken;
    /** What the change has appended, and which are the last values of the list. */
    private final List<byte[]> appended = new ArrayList<>(1);

    private long appendedBytes;
    private int longestBytes;
    private boolean everAppended;
    private long bytesBefore = UNKNOWN;

    SizeChange(Space space, @Nullable DocumentState before) {
        this.space = space;
        this.before = before;
    }

    Space space() {
        return space;
    }

    /**
     * Notes values that the change appends.
     *
     * @param values as they are stored
     * @param moreBytes how many of each are not the client's
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

    /** Notes that another document, with its values, has taken the place of this one. */
    void tookOver(DocumentState other) {
        taken = other;
    }

    /** Whether the change has appended, whatever has become of that. */
    boolean everAppended() {
        return everAppended;
    }

    /** Whether the change leaves values that it has appended, trimmed ones included. */
    boolean appends() {
        return !appended.isEmpty();
    }

    /** Length of all values that the change has appended, those that it deleted again included, in bytes. */
    long appendedBytes() {
        return appendedBytes;
    }

    /** Length of the longest of them, as it came, in bytes. */
    int longestBytes() {
        return longestBytes;
    }

    /** How many more documents there are after the change: 1, 0 or -1. */
    int moreDocuments(@Nullable DocumentState after) {
        return (after == null ? 0 : 1) - (before == null ? 0 : 1);
    }

    /** Length of the values in the list after the change, in bytes. */
    long bytes(ListStore store, @Nullable DocumentState after) {
        return after == null ? 0 : kept(store, after) + appendedFrom(after);
    }

    /** How many bytes more that are than before. */
    long moreBytes(ListStore store, @Nullable DocumentState after) {
        if (before == null || after != null && keeps(after) && after.firstSequence() == before.firstSequence()) {
            return after == null ? 0 : appendedFrom(after);
        }
        return bytes(store, after) - bytesBefore(store);
    }

    private boolean keeps(DocumentState after) {
        return before != null && before.id() == after.id();
    }

    private long bytesBefore(ListStore store) {
        if (bytesBefore == UNKNOWN) {
            ListInfo list = before == null ? null : store.accepted(before.id());
            bytesBefore = list == null ? 0 : list.bytes();
        }
        return bytesBefore;
    }

    /** Bytes of those values before the change that it has not dropped. */
    private long kept(ListStore store, DocumentState after) {
        if (taken != null && taken.id() == after.id()) {
            return keptOf(store, taken, after);
        }
        if (before == null || !keeps(after) || after.firstSequence() >= before.nextSequence()) {
            return 0;
        }
        return keptOf(store, before, after);
    }

    private static long keptOf(ListStore store, DocumentState list, DocumentState after) {
        ListInfo info = store.accepted(list.id());
        long bytes = info == null ? 0 : info.bytes();
        long dropped = after.firstSequence() - list.firstSequence();
        if (dropped > 0) {
            Lengths lengths = new Lengths(dropped);
            store.acceptedLengths(list.id(), lengths::add);
            bytes -= lengths.bytes;
        }
        return bytes;
    }

    /** Adds up the first so many lengths. */
    private static final class Lengths {
        private long left;
        private long bytes;

        Lengths(long count) {
            left = count;
        }

        boolean add(int length) {
            bytes += length;
            return --left > 0;
        }
    }

    private long appendedFrom(DocumentState after) {
        long bytes = 0;
        for (int i = firstKept(after); i < appended.size(); i++) {
            bytes += appended.get(i).length;
        }
        return bytes;
    }

    /** Which of the appended values is the first that the change has not trimmed again. */
    private int firstKept(DocumentState after) {
        return (int) Math.max(0, after.firstSequence() - firstAppended(after));
    }

    private long firstAppended(DocumentState after) {
        return after.nextSequence() - appended.size();
    }

    /**
     * From which sequence on the list's values have so many bytes or fewer; at the latest the last value's.
     *
     * @param bytes of the values after the change
     */
    long fits(ListStore store, DocumentState after, long bytes, long mostBytes) {
        Cut cut = new Cut(after.firstSequence(), bytes - mostBytes, after.nextSequence() - 1);
        if (keeps(after) && before != null) {
            cut.skip = after.firstSequence() - before.firstSequence();
            store.acceptedLengths(before.id(), cut::passes);
        }
        for (int i = firstKept(after); i < appended.size(); i++) {
            if (!cut.passes(appended.get(i).length)) {
                break;
            }
        }
        return cut.sequence;
    }

    /** Goes on along the values until enough bytes are behind it. */
    private static final class Cut {
        private long sequence;
        private long excessBytes;
        private final long last;
        private long skip;

        Cut(long sequence, long excessBytes, long last) {
            this.sequence = sequence;
            this.excessBytes = excessBytes;
            this.last = last;
        }

        boolean passes(int length) {
            if (skip > 0) {
                skip--;
            } else if (excessBytes > 0 && sequence < last) {
                excessBytes -= length;
                sequence++;
            }
            return excessBytes > 0 && sequence < last;
        }
    }
}
