package io.caravan.server.document.space;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A space, with its settings and its counts of documents and bytes. This object is replaced whenever any space is
 * created, modified, or removed. Each write to a document updates the counts of the space, so that quotas are exact; a
 * write reserves its share of the quotas before the store accepts it. Thread-safe.
 */
public final class Space {
    private final Prefix prefix;
    private final SpaceSettings settings;
    private final SpaceCounters counters;
    private final DocumentDurability durability;
    /** The enclosing space: the one with the longest prefix that this space's prefix starts with. */
    private final @Nullable Space enclosing;

    private final SpaceTable table;
    private final Counts counts;

    /**
     * Creates a space.
     *
     * @param server the durability of documents that are in no space
     * @param before the previous object of the same space, whose counts are taken over, or null to count from 0
     */
    Space(
            Prefix prefix,
            SpaceSettings settings,
            DocumentDurability server,
            SpaceCounters counters,
            @Nullable Space enclosing,
            SpaceTable table,
            @Nullable Space before) {
        DocumentDurability set = settings.durability();
        // The server may have offered a stronger durability when the durability of this space was set.
        this.durability = set != null && server.allows(set) ? set : server;
        this.prefix = prefix;
        this.settings = settings;
        this.counters = counters;
        this.enclosing = enclosing;
        this.table = table;
        this.counts = before == null ? new Counts(new AtomicLong(), new AtomicLong()) : before.counts;
    }

    /** The counters of a space, which start at 0 when the server starts. */
    public enum Counter {
        WRITES,
        BYTES,
        TRIMMED_VALUES,
        REJECTED_SIZES,
        REJECTED_QUOTAS,
        REJECTED_RATES
    }

    /** The number and total length of the documents in the space. */
    private record Counts(AtomicLong documents, AtomicLong bytes) {}

    public Prefix prefix() {
        return prefix;
    }

    public SpaceSettings settings() {
        return settings;
    }

    /** Returns the durability of an acknowledged write to a document in the space. */
    public DocumentDurability durability() {
        return durability;
    }

    /**
     * Returns the maximum time for which a write to a document in the space waits for other writes to share its flush;
     * null if the server's delay applies.
     */
    public @Nullable Duration flushDelay() {
        return settings.has(SpaceSetting.FLUSH_MILLIS)
                ? Duration.ofMillis(settings.get(SpaceSetting.FLUSH_MILLIS))
                : null;
    }

    @Nullable
    Space enclosing() {
        return enclosing;
    }

    /** Returns the number of documents, including those that have expired or are kept for their forks. */
    public long documents() {
        return counts.documents.get();
    }

    /** Returns the total length of all values that the documents' own lists retain, in bytes. */
    public long bytes() {
        return counts.bytes.get();
    }

    /** Adds to the counts a document that existed when the space was created. */
    void countExisting(long documentBytes) {
        counts.documents.incrementAndGet();
        counts.bytes.addAndGet(documentBytes);
    }

    /**
     * Adds the effect of a write to the counts of the space; called under the lock of the document's name.
     *
     * @param stripe the stripe of the document's name; if the stripe is not counted yet, its later count will include
     *     the write
     */
    public void count(int stripe, long moreDocuments, long moreBytes) {
        if (table.counted(stripe)) {
            counts.documents.addAndGet(moreDocuments);
            counts.bytes.addAndGet(moreBytes);
        }
    }

    /**
     * Whether the counted amount, minus the amount that a write will free, exceeds a quota. Returns false until all
     * documents are counted, which takes some time after a space is created or removed.
     */
    public boolean exceeds(SpaceSetting quota, long freed) {
        long counted = quota == SpaceSetting.QUOTA_DOCUMENTS ? documents() : bytes();
        return table.counted() && settings.exceeds(quota, counted - freed);
    }

    /**
     * Charges writes, and the bytes that they append, to the rate limits of the space.
     *
     * @param writes the number of documents written to
     * @return 0, or, when nothing was charged, the nanoseconds to wait before the next try
     */
    public long take(long nowNanos, long writes, long appendedBytes) {
        long writesPerSecond = settings.get(SpaceSetting.WRITES_PER_SECOND);
        long bytesPerSecond = settings.get(SpaceSetting.BYTES_PER_SECOND);
        long wait = writesPerSecond == 0 ? 0 : counters.writeRate().take(nowNanos, writes, writesPerSecond);
        if (wait > 0 || bytesPerSecond == 0) {
            return wait;
        }
        wait = counters.byteRate().take(nowNanos, appendedBytes, bytesPerSecond);
        if (wait > 0 && writesPerSecond != 0) {
            counters.writeRate().refund(writes, writesPerSecond);
        }
        return wait;
    }

    /** Refunds the amounts that {@link #take} charged, because the write did not happen. */
    public void refund(long writes, long appendedBytes) {
        if (settings.has(SpaceSetting.WRITES_PER_SECOND)) {
            counters.writeRate().refund(writes, settings.get(SpaceSetting.WRITES_PER_SECOND));
        }
        if (settings.has(SpaceSetting.BYTES_PER_SECOND)) {
            counters.byteRate().refund(appendedBytes, settings.get(SpaceSetting.BYTES_PER_SECOND));
        }
    }

    /** Counts a write that the store has accepted. */
    public void wrote(long appendedBytes, long retentionTrimmedValues) {
        counters.count(Counter.WRITES).add(1);
        counters.count(Counter.BYTES).add(appendedBytes);
        counters.count(Counter.TRIMMED_VALUES).add(retentionTrimmedValues);
    }

    /** Counts a rejected write by the reason for the rejection. */
    public void rejected(Counter reason) {
        counters.count(reason).add(1);
    }

    /**
     * Returns the number of writes that appended values or created documents since the server started; a write to
     * several documents counts once for each document.
     */
    public long writes() {
        return counters.count(Counter.WRITES).sum();
    }

    /** Returns the number of bytes that the writes counted by {@link #writes()} appended. */
    public long writtenBytes() {
        return counters.count(Counter.BYTES).sum();
    }

    /** Returns the number of values that retention trimmed during the writes counted by {@link #writes()}. */
    public long retentionTrimmedValues() {
        return counters.count(Counter.TRIMMED_VALUES).sum();
    }

    public long sizeRejections() {
        return counters.count(Counter.REJECTED_SIZES).sum();
    }

    public long quotaRejections() {
        return counters.count(Counter.REJECTED_QUOTAS).sum();
    }

    public long rateRejections() {
        return counters.count(Counter.REJECTED_RATES).sum();
    }

    /**
     * The contents of a space, and its activity since the server started.
     *
     * @param writes the number of accepted appends and creations
     * @param writtenBytes the number of bytes that these writes appended
     * @param effectiveDurability the durability of acknowledged writes
     */
    public record Status(
            long documents,
            long bytes,
            long writes,
            long writtenBytes,
            long retentionTrimmedValues,
            long rejectedSizes,
            long rejectedQuotas,
            long rejectedRates,
            String effectiveDurability) {}

    public Status status() {
        return new Status(
                documents(),
                bytes(),
                writes(),
                writtenBytes(),
                retentionTrimmedValues(),
                sizeRejections(),
                quotaRejections(),
                rateRejections(),
                durability().word());
    }
}
