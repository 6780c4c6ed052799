package io.caravan.server.document.space;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A space with these settings: replaced when any space is set or removed. What is in it is counted with each change of a
 * document, so that a quota is kept exactly; a write reserves its part before the store has it. Thread-safe.
 */
public final class Space {
    private final Prefix prefix;
    private final SpaceSettings settings;
    private final Activity activity;
    private final Promise promise;
    /** The space with the longest prefix that this one's prefix begins with. */
    private final @Nullable Space around;

    private final SpaceTable table;
    private final Counts counts;

    /**
     * A space.
     *
     * @param server what the server promises for documents that are in no space
     * @param before the same space with other settings, whose counts go on, or null to count from 0
     */
    Space(
            Prefix prefix,
            SpaceSettings settings,
            Promise server,
            Activity activity,
            @Nullable Space around,
            SpaceTable table,
            @Nullable Space before) {
        Promise set = settings.promise();
        // Perhaps the server has promised more when it was set.
        this.promise = set != null && server.allows(set) ? set : server;
        this.prefix = prefix;
        this.settings = settings;
        this.activity = activity;
        this.around = around;
        this.table = table;
        this.counts = before == null ? new Counts(new AtomicLong(), new AtomicLong()) : before.counts;
    }

    /** What is in the space. */
    private record Counts(AtomicLong documents, AtomicLong bytes) {}

    public Prefix prefix() {
        return prefix;
    }

    public SpaceSettings settings() {
        return settings;
    }

    /** What has happened to a change of its documents before it is answered. */
    public Promise promise() {
        return promise;
    }

    /** How long a change of its documents may wait for others to share its flush, or null: as the server does it. */
    public @Nullable Duration flushDelay() {
        return settings.has(SpaceSetting.FLUSH_MILLIS)
                ? Duration.ofMillis(settings.get(SpaceSetting.FLUSH_MILLIS))
                : null;
    }

    @Nullable
    Space around() {
        return around;
    }

    Activity activity() {
        return activity;
    }

    /** Number of documents, those that have expired or are kept for their forks included. */
    public long documents() {
        return counts.documents.get();
    }

    /** Length of all values that the documents' own lists retain, in bytes. */
    public long bytes() {
        return counts.bytes.get();
    }

    /** Counts a document that was found when the space was made. */
    void found(long documentBytes) {
        counts.documents.incrementAndGet();
        counts.bytes.addAndGet(documentBytes);
    }

    /**
     * Counts a change of a document, under the lock of its name.
     *
     * @param stripe the one of the document's name: what is not counted yet will be found as it is then
     */
    public void count(int stripe, long moreDocuments, long moreBytes) {
        if (table.counted(stripe)) {
            counts.documents.addAndGet(moreDocuments);
            counts.bytes.addAndGet(moreBytes);
        }
    }

    /**
     * Whether what is counted exceeds a quota, less what a change will free. Until all documents are counted, which takes a moment after each change of
     * any space, it does not.
     */
    public boolean exceeds(SpaceSetting quota, long freed) {
        long counted = quota == SpaceSetting.QUOTA_DOCUMENTS ? documents() : bytes();
        return table.counted() && settings.exceeds(quota, counted - freed);
    }

    /**
     * Takes the writes of a change, and the bytes that they append, from what the space's rates allow.
     *
     * @return 0, or, when nothing was taken, in how many nanoseconds to try again
     */
    public long take(long nowNanos, long writes, long appendedBytes) {
        long writesPerSecond = settings.get(SpaceSetting.WRITES_PER_SECOND);
        long bytesPerSecond = settings.get(SpaceSetting.BYTES_PER_SECOND);
        long wait = writesPerSecond == 0 ? 0 : activity.writeRate.take(nowNanos, writes, writesPerSecond);
        if (wait > 0 || bytesPerSecond == 0) {
            return wait;
        }
        wait = activity.byteRate.take(nowNanos, appendedBytes, bytesPerSecond);
        if (wait > 0 && writesPerSecond != 0) {
            activity.writeRate.giveBack(writes, writesPerSecond);
        }
        return wait;
    }

    /** Gives back what {@link #take} took, because the change was not made. */
    public void giveBack(long writes, long appendedBytes) {
        if (settings.has(SpaceSetting.WRITES_PER_SECOND)) {
            activity.writeRate.giveBack(writes, settings.get(SpaceSetting.WRITES_PER_SECOND));
        }
        if (settings.has(SpaceSetting.BYTES_PER_SECOND)) {
            activity.byteRate.giveBack(appendedBytes, settings.get(SpaceSetting.BYTES_PER_SECOND));
        }
    }

    /** Notes a write that the store has accepted. */
    public void wrote(long appendedBytes, long retiredValues) {
        activity.writes.increment();
        activity.bytes.add(appendedBytes);
        activity.retired.add(retiredValues);
    }

    /** Notes that a value or a document would have been too large. */
    public void refusedSize() {
        activity.refusedSizes.increment();
    }

    public void refusedQuota() {
        activity.refusedQuotas.increment();
    }

    public void refusedRate() {
        activity.refusedRates.increment();
    }

    /** Changes that appended or created since the server started. */
    public long writes() {
        return activity.writes.sum();
    }

    /** Bytes that they appended. */
    public long writtenBytes() {
        return activity.bytes.sum();
    }

    /** Values that were trimmed because newer ones came. */
    public long retiredValues() {
        return activity.retired.sum();
    }

    public long sizeRefusals() {
        return activity.refusedSizes.sum();
    }

    public long quotaRefusals() {
        return activity.refusedQuotas.sum();
    }

    public long rateRefusals() {
        return activity.refusedRates.sum();
    }
}
