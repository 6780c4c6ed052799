package io.caravan.server.document.space;

import io.caravan.catalog.Catalog;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A space, with its settings and its counts of documents and bytes. This object is replaced whenever any space is
 * created, modified, or removed. Each write to a document updates the counts of the space, so that quotas are exact; a
 * write reserves its share of the quotas before the store accepts it. Thread-safe.
 */
public final class Space {
    private final Prefix prefix;
    private final SpaceSettings settings;
    private final DocumentDurability durability;
    /** The enclosing space: the one with the longest prefix that this space's prefix starts with. */
    private final @Nullable Space enclosing;

    /** The number of stripes whose documents are counted; the spaces that are published together share it. */
    private final AtomicInteger countedStripes;

    private final Size size;
    private final RateLimit writeRate;
    private final RateLimit byteRate;
    /** The values of the counters, in the order of {@link Counter}. */
    private final List<LongAdder> counters;

    /**
     * Creates a space.
     *
     * @param server the durability of documents that are in no space
     * @param before the previous object of the same space, whose counters are taken over, or null
     */
    Space(
            Prefix prefix,
            SpaceSettings settings,
            DocumentDurability server,
            long nowNanos,
            @Nullable Space enclosing,
            AtomicInteger countedStripes,
            @Nullable Space before) {
        DocumentDurability set = settings.durability();
        // The server may have offered a stronger durability when the durability of this space was set.
        this.durability = set != null && server.allows(set) ? set : server;
        this.prefix = prefix;
        this.settings = settings;
        this.enclosing = enclosing;
        this.countedStripes = countedStripes;
        this.size = before != null && counted() ? before.size : new Size(new AtomicLong(), new AtomicLong());
        this.writeRate = RateLimit.of(
                settings.get(SpaceSetting.WRITES_PER_SECOND), nowNanos, before == null ? null : before.writeRate);
        this.byteRate = RateLimit.of(
                settings.get(SpaceSetting.BYTES_PER_SECOND), nowNanos, before == null ? null : before.byteRate);
        this.counters = before == null
                ? Arrays.stream(Counter.values()).map(each -> new LongAdder()).toList()
                : before.counters;
    }

    private boolean counted() {
        return countedStripes.get() == Catalog.STRIPES;
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
    private record Size(AtomicLong documents, AtomicLong bytes) {}

    public Prefix prefix() {
        return prefix;
    }

    public SpaceSettings settings() {
        return settings;
    }

    public DocumentDurability durability() {
        return durability;
    }

    /** Returns the maximum time for which a write waits to share its flush; null if the server's delay applies. */
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
        return size.documents.get();
    }

    /** Returns the total length of all values that the documents' own lists retain, in bytes. */
    public long bytes() {
        return size.bytes.get();
    }

    void countExisting(long documentBytes) {
        size.documents.incrementAndGet();
        size.bytes.addAndGet(documentBytes);
    }

    /**
     * Adds the effect of a write to the counts of the space; called under the lock of the document's name.
     *
     * @param stripe the stripe of the document's name; if the stripe is not counted yet, its later count will include
     *     the write
     */
    public void count(int stripe, long moreDocuments, long moreBytes) {
        if (stripe < countedStripes.get()) {
            size.documents.addAndGet(moreDocuments);
            size.bytes.addAndGet(moreBytes);
        }
    }

    /**
     * Whether the counted amount, minus the amount that a write will free, exceeds a quota. Returns false until all
     * documents are counted, which takes some time after a space is created or removed.
     */
    public boolean exceeds(SpaceSetting quota, long freed) {
        long counted = quota == SpaceSetting.QUOTA_DOCUMENTS ? documents() : bytes();
        return counted() && settings.exceeds(quota, counted - freed);
    }

    /** Charges writes to the rate limits. Returns 0, or, if nothing was charged, the nanoseconds to wait. */
    public long take(long nowNanos, long writes, long appendedBytes) {
        long wait = writeRate.take(nowNanos, writes);
        if (wait == 0) {
            wait = byteRate.take(nowNanos, appendedBytes);
            if (wait > 0) {
                writeRate.refund(writes);
            }
        }
        return wait;
    }

    /** Refunds the amounts that {@link #take} charged, because the write did not happen. */
    public void refund(long writes, long appendedBytes) {
        writeRate.refund(writes);
        byteRate.refund(appendedBytes);
    }

    public void wrote(long appendedBytes, long retentionTrimmedValues) {
        count(Counter.WRITES, 1);
        count(Counter.BYTES, appendedBytes);
        count(Counter.TRIMMED_VALUES, retentionTrimmedValues);
    }

    public void rejected(Counter reason) {
        count(reason, 1);
    }

    private void count(Counter counter, long more) {
        counters.get(counter.ordinal()).add(more);
    }

    private long sum(Counter counter) {
        return counters.get(counter.ordinal()).sum();
    }

    /**
     * The contents of a space, and its activity since the server started.
     *
     * @param writes the number of accepted appends and creations; a write to several documents counts once for each
     *     document
     * @param writtenBytes the number of bytes that these writes appended
     * @param retentionTrimmedValues the number of values that retention trimmed during these writes
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
                sum(Counter.WRITES),
                sum(Counter.BYTES),
                sum(Counter.TRIMMED_VALUES),
                sum(Counter.REJECTED_SIZES),
                sum(Counter.REJECTED_QUOTAS),
                sum(Counter.REJECTED_RATES),
                durability.word());
    }

    /**
     * A token bucket that holds one second's worth of tokens. If at least one token is available, a caller may take as many
     * tokens as it needs, and later callers must wait until the debt is repaid. A single request can therefore exceed the
     * size of the bucket, but the long-term rate is not exceeded. Thread-safe; a request allocates no memory and takes no
     * lock.
     *
     * <p>The state of the bucket is stored as the time at which it will be full. The bucket is empty if that time is one
     * second ahead.
     */
    private static final class RateLimit {
        private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

        /** The number of tokens that the bucket gains per second; 0 for no limit. */
        private final long perSecond;
        /** The time at which the bucket will be full again, according to the callers' clock. */
        private final AtomicLong fullNanos;

        private RateLimit(long perSecond, long nowNanos) {
            this.perSecond = perSecond;
            this.fullNanos = new AtomicLong(nowNanos);
        }

        /**
         * Returns the limit with this rate: the existing one, or a new one if the rate has changed. Otherwise, writers
         * would have to wait for the old debt to be repaid at the old rate, perhaps for days.
         */
        static RateLimit of(long perSecond, long nowNanos, @Nullable RateLimit existing) {
            return existing != null && existing.perSecond == perSecond ? existing : new RateLimit(perSecond, nowNanos);
        }

        /** Returns the time, in nanoseconds, in which the bucket gains this number of tokens; at most a century. */
        private long nanos(long amount) {
            return (long) Math.min((double) amount * SECOND / perSecond, TimeUnit.DAYS.toNanos(36_500));
        }

        /**
         * Takes this number of tokens if at least one token is available.
         *
         * @return 0, or, when no token is available and nothing was taken, the nanoseconds until one is available
         */
        long take(long nowNanos, long amount) {
            while (perSecond != 0) {
                long full = fullNanos.get();
                // Nanosecond clocks may be negative: compare only differences.
                long ahead = Math.max(0, full - nowNanos);
                long wait = ahead + nanos(1) - SECOND;
                if (wait > 0) {
                    return wait;
                }
                if (fullNanos.compareAndSet(full, nowNanos + ahead + nanos(amount))) {
                    return 0;
                }
            }
            return 0;
        }

        void refund(long amount) {
            if (perSecond != 0) {
                fullNanos.addAndGet(-nanos(amount));
            }
        }
    }
}
