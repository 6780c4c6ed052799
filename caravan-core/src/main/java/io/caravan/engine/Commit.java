package io.caravan.engine;

import io.caravan.Durability;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.wal.LogBuffer;
import java.util.Arrays;

/**
 * One group commit: a frame, and the callbacks to call once it is durable. Filled under the store's lock, then owned by
 * the flusher until it is cleared.
 */
final class Commit {
    private static final int FIRST_CAPACITY = 64;
    /** Bounds the memory of callbacks that come without bytes, such as trims that change nothing. */
    private static final int MAX_CALLBACKS = 1 << 18;

    /**
     * What a write asks of the commit that it becomes part of.
     *
     * @param level how durable it must be before it is acknowledged
     * @param flushDelayNanos how long it may wait to be flushed, or {@link WriteBatch#BY_POLICY}
     */
    record Terms(Durability level, long flushDelayNanos) {
        /** As durable, and as soon, as the store does it. */
        static final Terms USUAL = new Terms(Durability.SYNC, WriteBatch.BY_POLICY);

        static Terms of(WriteBatch batch) {
            return new Terms(batch.durability(), batch.flushDelayNanos());
        }
    }

    private final LogBuffer frame;
    private WriteCallback[] callbacks = new WriteCallback[FIRST_CAPACITY];
    private long[] sequences = new long[FIRST_CAPACITY];
    private int count;
    private int notified;
    private long firstNanos;
    private long delayNanos = Long.MAX_VALUE;
    private boolean waitsByPolicy;
    private long segment = -1;
    private Durability level = Durability.NONE;
    private long end;
    private boolean forceAsked;

    Commit(int bufferBytes) {
        frame = new LogBuffer(bufferBytes);
    }

    LogBuffer frame() {
        return frame;
    }

    /** The log segment that the frame was placed in. */
    long segment() {
        return segment;
    }

    void placedIn(long logSegment) {
        segment = logSegment;
    }

    /** Whether it has all the callbacks that a write may add; a flush adds its own all the same. */
    boolean full() {
        return count >= MAX_CALLBACKS;
    }

    /** Whether less than half of it is used. */
    boolean roomy() {
        return count < MAX_CALLBACKS / 2 && frame.payloadBytes() < frame.capacityBytes() / 2;
    }

    boolean isEmpty() {
        return count == 0 && frame.isEmpty();
    }

    int count() {
        return count;
    }

    void startedAt(long nanos) {
        firstNanos = nanos;
    }

    /** When the first callback was added. */
    long firstNanos() {
        return firstNanos;
    }

    /** A write was added that waits as the store's policy says. Returns whether it is the first. */
    boolean waitByPolicy() {
        boolean first = !waitsByPolicy;
        waitsByPolicy = true;
        return first;
    }

    /** A write was added that waits until so long after the first one at most. Returns whether none waited less so far. */
    boolean waitAtMost(long nanos) {
        boolean least = nanos < delayNanos;
        delayNanos = Math.min(delayNanos, nanos);
        return least;
    }

    /** How long after its first write it is to be flushed: as the least patient of its writes wants it. */
    long delayNanos(FlushDelay policy) {
        return waitsByPolicy ? Math.min(policy.nanos(), delayNanos) : delayNanos;
    }

    /** How durable it must be before anybody is told: as the strongest of its writes asks for. */
    Durability level() {
        return level;
    }

    /** It must be so durable at the least. */
    void require(Durability atLeast) {
        level = level.orStronger(atLeast);
    }

    /** A flush takes it, behind which the log ends there. */
    void sealed(long logEnd, boolean force) {
        end = logEnd;
        forceAsked = force;
    }

    /** Where the log ends once the frame is written. */
    long end() {
        return end;
    }

    /** Whether somebody asked for a force, whatever the durability level. */
    boolean forceAsked() {
        return forceAsked;
    }

    void add(WriteCallback callback, long sequence) {
        if (count == callbacks.length) {
            callbacks = Arrays.copyOf(callbacks, count * 2);
            sequences = Arrays.copyOf(sequences, count * 2);
        }
        callbacks[count] = callback;
        sequences[count++] = sequence;
    }

    /** Calls every callback with its success, in order. */
    void acknowledge() {
        while (notified < count) {
            int next = notified++;
            Guarded.success(callbacks[next], sequences[next]);
        }
    }

    /** Calls every callback that was not called yet with the failure, in order. */
    void fail(StoreFailedException problem) {
        while (notified < count) {
            int next = notified++;
            Guarded.failure(callbacks[next], problem);
        }
    }

    void clear() {
        Arrays.fill(callbacks, 0, count, null);
        count = 0;
        notified = 0;
        segment = -1;
        level = Durability.NONE;
        delayNanos = Long.MAX_VALUE;
        waitsByPolicy = false;
        frame.clear();
    }
}
