package io.caravan.server.document;

import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Determines when documents expire, and which values exceed an age. A fixed time is stored with the document, and compared with the wall clock. For
 * a sliding expiry, the duration is stored with the document; the time of the last read or write is kept in memory, and
 * measured with a monotonic clock. A restart counts as a read of every document, so that no document expires early. The
 * time of the last step of an import is kept in the same way.
 */
final class Expiry {
    /** The time without a step after which the client of an import is assumed to have ended. */
    private static final long ABANDONED_NANOS = TimeUnit.DAYS.toNanos(2);

    /** The difference between the progress of two clocks above which the wall clock has jumped. */
    private static final long JUMP_MILLIS = 1000;
    /** Maximum number of jumps to remember. Further ones are added to their predecessors, so values may stay longer. */
    private static final int MAX_JUMPS = 32;

    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private final long startedNanos;
    private final long startedMillis;
    /** The lead of the wall clock over the monotonic clock at the last check. Guarded by this object's monitor. */
    private long aheadMillis;
    /** The latest jumps of the wall clock ahead, oldest first. Guarded by this object's monitor. */
    private final Deque<Jump> jumps = new ArrayDeque<>();
    /** The time of the last use of each document with a sliding expiry or an unfinished import, by id. */
    private final Map<Long, Long> lastUse = new ConcurrentHashMap<>();

    /** A jump of the wall clock ahead, by this much, which was noticed at this time of the monotonic clock. */
    private record Jump(long nanos, long millis) {}

    Expiry(InstantSource clock, LongSupplier nanoTime) {
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.startedNanos = nanoTime.getAsLong();
        this.startedMillis = clock.millis();
    }

    long nowMillis() {
        return clock.millis();
    }

    long nanos() {
        return nanoTime.getAsLong();
    }

    /**
     * Returns the time before which a value must have arrived to exceed this age. If the wall clock has jumped ahead of
     * the monotonic clock, values that arrived before the jump are not older by the length of the jump. The jump is
     * therefore subtracted until the age has passed since the jump; then all these values are that old.
     */
    synchronized long arrivedBefore(long ageMillis) {
        long nanos = nanoTime.getAsLong();
        long now = clock.millis();
        long ahead = now - startedMillis - TimeUnit.NANOSECONDS.toMillis(nanos - startedNanos);
        if (ahead - aheadMillis > JUMP_MILLIS) {
            jumps.addLast(new Jump(nanos, ahead - aheadMillis));
            if (jumps.size() > MAX_JUMPS) {
                Jump oldest = jumps.removeFirst();
                Jump next = jumps.removeFirst();
                jumps.addFirst(new Jump(next.nanos, oldest.millis + next.millis));
            }
        }
        aheadMillis = ahead;
        long ageNanos = TimeUnit.MILLISECONDS.toNanos(ageMillis);
        long recent = jumps.stream()
                .filter(jump -> nanos - jump.nanos < ageNanos)
                .mapToLong(Jump::millis)
                .sum();
        return now - ageMillis - recent;
    }

    OptionalLong deadlineMillis(DocumentInfo info) {
        OptionalLong ttl = info.attributes().ttlSeconds();
        return ttl.isEmpty()
                ? info.attributes().expiresAtMillis()
                : OptionalLong.of(clock.millis() + leftMillis(info.id(), ttl.getAsLong()));
    }

    /** Returns the remaining time of a sliding expiry; zero or less after the document has expired. */
    private long leftMillis(long id, long ttlSeconds) {
        long unusedNanos = nanoTime.getAsLong() - lastUse.getOrDefault(id, startedNanos);
        return Math.min(ttlSeconds, Integer.MAX_VALUE) * 1000 - TimeUnit.NANOSECONDS.toMillis(unusedNanos);
    }

    /**
     * Whether the document has expired. A document that is being moved does not expire on this server; its copy expires
     * on the target server. A document that is being imported does not expire until it is complete, because it may
     * contain the redirect that it replaces. Nor does a deleted document, which is kept for its forks.
     */
    boolean expired(DocumentInfo info) {
        DocumentAttributes attributes = info.attributes();
        if (!attributes.expires()
                || attributes.deleted()
                || attributes.has(DocumentAttributes.FENCE)
                || attributes.restoring()) {
            return false;
        }
        OptionalLong ttl = attributes.ttlSeconds();
        if (ttl.isPresent()) {
            return leftMillis(info.id(), ttl.getAsLong()) <= 0;
        }
        OptionalLong deadline = attributes.expiresAtMillis();
        return deadline.isPresent() && clock.millis() >= deadline.getAsLong();
    }

    /** Records that the document is used now. The returned action withdraws the record, unless a later use followed. */
    Runnable use(long id) {
        Long now = nanoTime.getAsLong();
        Long before = lastUse.put(id, now);
        return () -> lastUse.computeIfPresent(id, (same, last) -> last.equals(now) ? before : last);
    }

    /**
     * Whether the document is being imported by a client, and the last step of the import was long ago. Conclusive only
     * while the name is locked: otherwise, an import that has just begun may seem to be abandoned.
     */
    boolean abandoned(DocumentInfo info) {
        return info.attributes().importing()
                && nanoTime.getAsLong() - lastUse.getOrDefault(info.id(), startedNanos) > ABANDONED_NANOS;
    }

    void forget(long id) {
        lastUse.remove(id);
    }
}
