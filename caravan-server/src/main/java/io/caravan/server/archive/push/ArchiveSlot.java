package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DeletionRecord;
import org.jspecify.annotations.Nullable;

/**
 * The last scan of a stripe of the documents, or of the deletions. It bounds the age of each change without storing any
 * state per document. The monitor of {@link ArchiveSchedule} guards it. All times are in milliseconds since 1970.
 */
final class ArchiveSlot {
    /** The changes that have no jobs, because there was no space or because their jobs have failed. */
    Backlog unscheduled = new Backlog();
    /** Whether the marks of the slot's documents may refer to another archive. */
    boolean unverified;
    /** The verification of all documents in the slot; null if none is in progress. */
    @Nullable
    Verification verification;

    private final long startMillis;
    private boolean scanned;
    private long scannedMillis;
    private long nextMillis;

    /** @param startMillis when the server started */
    ArchiveSlot(long startMillis) {
        this.startMillis = startMillis;
    }

    /**
     * A document or a deletion that a scan has found.
     *
     * @param deletion null for a document
     * @param lastMillis the last time at which no archiving is known to have been necessary; 0 if there is none
     * @param afterMillis maximum age of a change
     */
    record Change(DocumentName name, @Nullable DeletionRecord deletion, long lastMillis, long afterMillis) {
        /**
         * Whether a scan may leave this change to the next scan, because at least a fifth of its maximum age then
         * remains for archiving it. A change with a time in the future, set by another clock, does not wait.
         *
         * @param nowMillis the time of the scan
         * @param nextMillis the latest time of the next scan
         */
        boolean mayWait(long nowMillis, long nextMillis) {
            return lastMillis != 0 && lastMillis <= nowMillis && nextMillis - lastMillis < afterMillis / 5 * 4;
        }
    }

    /** A number of changes, and bounds on their ages. */
    static final class Backlog {
        /** The number of documents and deletions. */
        int count;
        /** The earliest time at which any of the changes can have begun to wait; {@link Long#MAX_VALUE} if none. */
        long oldestMillis = Long.MAX_VALUE;
        /** The earliest time at which any of the changes can be due; {@link Long#MAX_VALUE} if none. */
        long dueMillis = Long.MAX_VALUE;

        void add(int changes, long oldest, long due) {
            if (changes > 0) {
                count += changes;
                oldestMillis = Math.min(oldestMillis, oldest);
                dueMillis = Math.min(dueMillis, due);
            }
        }

        void add(Backlog other) {
            add(other.count, other.oldestMillis, other.dueMillis);
        }
    }

    /** The verification of a slot, with the number of documents that are not verified yet. */
    static final class Verification {
        int left;
    }

    /**
     * Adds a change that a scan has just found. The change was made after the document was last archived. Unless the
     * previous scan left the change for later, it was also made after that scan. A document that was never archived and
     * that the first scan finds counts as changed at the start.
     */
    void add(Change change, Backlog to) {
        long since = scanned || change.lastMillis() != 0 ? change.lastMillis() : startMillis;
        long due = since + change.afterMillis();
        if (scanned && !change.mayWait(scannedMillis, nextMillis)) {
            boolean left = unscheduled.count > 0;
            long dueAfterScan = scannedMillis + change.afterMillis();
            since = Math.max(since, left ? unscheduled.oldestMillis : scannedMillis);
            due = Math.max(due, left ? Math.min(unscheduled.dueMillis, dueAfterScan) : dueAfterScan);
        }
        to.add(1, since, due);
    }

    /** Records a scan of the slot, with the changes for which there was no space. */
    void scanned(long nowMillis, long next, Backlog rest) {
        scanned = true;
        scannedMillis = nowMillis;
        nextMillis = next;
        unscheduled = rest;
    }
}
