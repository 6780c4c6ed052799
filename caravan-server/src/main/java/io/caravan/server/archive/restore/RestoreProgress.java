package io.caravan.server.archive.restore;

import io.caravan.catalog.DocumentName;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a complete restore. A subclass may report the outcome of each document, on the thread that runs the
 * restore. Any thread may read the counts.
 */
public class RestoreProgress {
    private long total = -1;
    private long restored;
    private long present;
    private long deleted;
    private long faults;
    private long missing;
    private long values;
    private long valueBytes;
    private long movedBytes;

    /**
     * The counts of a restore so far.
     *
     * @param total number of manifests in the archive, or -1 while it is not known
     * @param restored documents that were restored, or to which values were appended
     * @param present documents that the store already had
     * @param deleted documents that were deleted, and are not restored
     * @param faults documents that could not be restored, or only from an older generation
     * @param values values that were restored
     * @param valueBytes total length of these values
     * @param movedBytes total length of values, including those of incomplete and abandoned documents
     */
    public record Figures(
            long total,
            long restored,
            long present,
            long deleted,
            long faults,
            long values,
            long valueBytes,
            long movedBytes) {

        public long done() {
            return restored + present + deleted + faults;
        }
    }

    /**
     * An archived document that was not restored, or was restored only from an older generation.
     *
     * @param document the document's name, or null when the object that contains the name cannot be read
     * @param object key of the faulty object, or of the document's manifest
     * @param why the fault, in human-readable form
     * @param instead the older generation that was restored instead, or null when none was
     */
    public record RestoreFault(
            @Nullable DocumentName document,
            String object,
            String why,
            @Nullable Restored instead) {}

    synchronized void total(long manifests) {
        total = manifests;
    }

    synchronized void moved(long bytes) {
        movedBytes += bytes;
    }

    /** Records that a document exists and is durable. An exception ends the restore. */
    protected void restored(Restored document) {
        count(false, document);
    }

    synchronized void deleted() {
        deleted++;
    }

    /** Records that a document, or its latest generation, could not be restored. An exception ends the restore. */
    protected void fault(RestoreFault fault) {
        count(true, fault.instead());
    }

    private synchronized void count(boolean fault, @Nullable Restored document) {
        faults += fault ? 1 : 0;
        if (document == null) {
            missing++;
            return;
        }
        restored += !fault && document.changed() ? 1 : 0;
        present += !fault && !document.changed() ? 1 : 0;
        values += document.added();
        valueBytes += document.addedBytes();
    }

    /** Returns the number of documents that could not be restored from any permitted generation. */
    public final synchronized long missing() {
        return missing;
    }

    public final synchronized Figures figures() {
        return new Figures(total, restored, present, deleted, faults, values, valueBytes, movedBytes);
    }
}
