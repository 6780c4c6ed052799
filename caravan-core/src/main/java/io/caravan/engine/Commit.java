package io.caravan.engine;

import io.caravan.Durability;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.wal.LogBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One group commit: a frame, and the callbacks to call once the frame is durable. Filled under the store's lock, then
 * owned by the flusher until it is cleared.
 */
final class Commit {
    private static final int FIRST_CAPACITY = 64;
    /**
     * Maximum number of callbacks in a commit. A limit on records is not enough, because some writes have a callback
     * but no record, such as trims that change nothing.
     */
    private static final int MAX_CALLBACKS = 1 << 18;

    /** The terms of a write without a batch: the durability level and the flush delay of the store. */
    static final WriteBatch USUAL_TERMS = WriteBatch.create();

    private final LogBuffer frame;
    private WriteCallback[] callbacks = new WriteCallback[FIRST_CAPACITY];
    private long[] sequences = new long[FIRST_CAPACITY];
    private int count;
    private int notified;
    private long firstNanos;
    private long delayNanos = Long.MAX_VALUE;
    private boolean waitsByPolicy;
    private Durability level = Durability.MEMORY;
    private long end;
    private boolean fsyncRequested;

    Commit(int bufferBytes) {
        frame = new LogBuffer(bufferBytes);
    }

    LogBuffer frame() {
        return frame;
    }

    /** Whether the commit has the maximum number of callbacks for writes. A flush request may exceed the maximum. */
    boolean full() {
        return count >= MAX_CALLBACKS;
    }

    /** Whether less than half of the commit's capacity is used. */
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

    long firstNanos() {
        return firstNanos;
    }

    /**
     * Records the addition of a write that may wait this long after the commit's first write, or as long as the store's
     * flush policy requires ({@link WriteBatch#BY_POLICY}). Returns whether the flush may therefore be due earlier.
     */
    boolean waitAtMost(long nanos) {
        if (nanos == WriteBatch.BY_POLICY) {
            boolean first = !waitsByPolicy;
            waitsByPolicy = true;
            return first;
        }
        boolean least = nanos < delayNanos;
        delayNanos = Math.min(delayNanos, nanos);
        return least;
    }

    /** Returns the time between the first write and the flush: the shortest time that any of the writes allows. */
    long delayNanos(FlushDelay policy) {
        return waitsByPolicy ? Math.min(policy.nanos(), delayNanos) : delayNanos;
    }

    /** Returns the durability required before an acknowledgment: the strongest level that any write requests. */
    Durability level() {
        return level;
    }

    void require(Durability atLeast) {
        level = level.orStronger(atLeast);
    }

    /**
     * Records that the flush of the commit has begun, the position at which the log ends once the frame is written, and
     * whether the commit requires an fsync regardless of its durability level.
     */
    void sealed(long logEnd, boolean force) {
        end = logEnd;
        fsyncRequested = force;
    }

    long end() {
        return end;
    }

    boolean fsyncRequested() {
        return fsyncRequested;
    }

    void add(WriteCallback callback, long sequence) {
        if (count == callbacks.length) {
            callbacks = Arrays.copyOf(callbacks, count * 2);
            sequences = Arrays.copyOf(sequences, count * 2);
        }
        callbacks[count] = callback;
        sequences[count++] = sequence;
    }

    /** Reports success, or the problem if there is one, to every callback that has not been called yet, in order. */
    void complete(@Nullable StoreFailedException problem) {
        while (notified < count) {
            int next = notified++;
            try {
                if (problem == null) {
                    callbacks[next].success(sequences[next]);
                } else {
                    callbacks[next].failure(problem);
                }
            } catch (Throwable thrown) {
                WorkerThread.logUserCode("A write's callback", thrown);
            }
        }
    }

    void clear() {
        Arrays.fill(callbacks, 0, count, null);
        count = 0;
        notified = 0;
        level = Durability.MEMORY;
        delayNanos = Long.MAX_VALUE;
        waitsByPolicy = false;
        frame.clear();
    }
}
