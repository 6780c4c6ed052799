package io.caravan.server.archive.restore;

import io.caravan.server.archive.restore.WholeRestore.RestoreFault;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** How far a whole restore is. For any number of threads. */
public final class RestoreProgress {
    private static final long UNKNOWN = -1;

    private final AtomicLong total = new AtomicLong(UNKNOWN);
    private final LongAdder restored = new LongAdder();
    private final LongAdder present = new LongAdder();
    private final LongAdder deleted = new LongAdder();
    private final LongAdder faults = new LongAdder();
    private final LongAdder missing = new LongAdder();
    private final LongAdder values = new LongAdder();
    private final LongAdder valueBytes = new LongAdder();
    private final LongAdder movedBytes = new LongAdder();

    /**
     * What was done so far.
     *
     * @param total number of manifests in the archive, or -1 while it is not known
     * @param restored documents that were restored, or got values that they lacked
     * @param present documents that the store had already
     * @param deleted documents that were deleted, and are not restored
     * @param faults documents that could not be restored, or not from their latest generation
     * @param values values that were restored
     * @param valueBytes their lengths together
     * @param movedBytes the same with those of documents that are not whole yet, or were given up
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

        /** Manifests that are done with. */
        public long done() {
            return restored + present + deleted + faults;
        }
    }

    void total(long manifests) {
        total.set(manifests);
    }

    void moved(long bytes) {
        movedBytes.add(bytes);
    }

    void restored(Restored document) {
        (document.changed() ? restored : present).increment();
        count(document);
    }

    void deleted() {
        deleted.increment();
    }

    void fault(RestoreFault fault) {
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

    /** The number of documents that could not be restored from any generation that was allowed. */
    public long missing() {
        return missing.sum();
    }

    /** How far it is now. */
    public Figures figures() {
        return new Figures(
                total.get(),
                restored.sum(),
                present.sum(),
                deleted.sum(),
                faults.sum(),
                values.sum(),
                valueBytes.sum(),
                movedBytes.sum());
    }
}
