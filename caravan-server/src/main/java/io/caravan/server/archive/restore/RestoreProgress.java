package io.caravan.server.archive.restore;

import io.caravan.catalog.DocumentName;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a complete restore. A subclass may report the outcome of each document, on the thread that runs the
 * restore. Any thread may read the counts.
 */
public class RestoreProgress {
    private volatile long total = -1;
    private final LongAdder restored = new LongAdder();
    private final LongAdder present = new LongAdder();
    private final LongAdder deleted = new LongAdder();
    private final LongAdder faults = new LongAdder();
    private final LongAdder missing = new LongAdder();
    private final LongAdder values = new LongAdder();
    private final LongAdder valueBytes = new LongAdder();
    private final LongAdder movedBytes = new LongAdder();

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

    void total(long manifests) {
        total = manifests;
    }

    void moved(long bytes) {
        movedBytes.add(bytes);
    }

    /** Records that a document exists and is durable. An exception ends the restore. */
    protected void restored(Restored document) {
        (document.changed() ? restored : present).increment();
        count(document);
    }

    void deleted() {
        deleted.increment();
    }

    /** Records that a document, or its latest generation, could not be restored. An exception ends the restore. */
    protected void fault(RestoreFault fault) {
        faults.increment();
        if (fault.instead() == null) {
            missing.increment();
        } else {
            count(fault.instead());
        }
    }

    private void count(Restored document) {
        values.add(document.added());
        valueBytes.add(document.addedBytes());
    }

    /** Returns the number of documents that could not be restored from any permitted generation. */
    public final long missing() {
        return missing.sum();
    }

    public final Figures figures() {
        return new Figures(
                total,
                restored.sum(),
                present.sum(),
                deleted.sum(),
                faults.sum(),
                values.sum(),
                valueBytes.sum(),
                movedBytes.sum());
    }
}
