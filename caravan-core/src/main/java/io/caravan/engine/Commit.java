package io.caravan.engine;

import io.caravan.Durability;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.wal.LogBuffer;
import java.util.Arrays;

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

    /**
     * The requirements that a write adds to its commit.
     *
     * @param level the durability required before the write is acknowledged
     * @param flushDelayNanos the maximum time until the write is flushed, or {@link WriteBatch#BY_POLICY}
     */
    record Terms(Durability level, long flushDelayNanos) {
        /** The default terms: the durability level and the flush delay of the store. */
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
    private Durability level = Durability.MEMORY;
    private long end;
    private boolean fsyncRequested;

    Commit(int bufferBytes) {
        frame = new LogBuffer(bufferBytes);
    }

    LogBuffer frame() {
        return frame;
    }

    long segment() {
        return segment;
    }

    void placedIn(long logSegment) {
        segment = logSegment;
    }

    /**
     * Whether the commit has reached the maximum number of callbacks for writes. A flush request may exceed the
     * maximum.
     */
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

    /** Returns the time at which the first callback was added. */
    long firstNanos() {
        return firstNanos;
    }

    /**
     * Records the addition of a write that waits for as long as the store's flush policy requires. Returns whether it
     * is the commit's first such write.
     */
    boolean waitByPolicy() {
        boolean first = !waitsByPolicy;
        waitsByPolicy = true;
        return first;
    }

    /**
     * Records the addition of a write that waits at most this long after the commit's first write. Returns whether this
     * time is the shortest so far.
     */
    boolean waitAtMost(long nanos) {
        boolean least = nanos < delayNanos;
        delayNanos = Math.min(delayNanos, nanos);
        return least;
    }

    /**
     * Returns the time between the commit's first write and its flush: the shortest time that any of its writes allows.
     */
    long delayNanos(FlushDelay policy) {
        return waitsByPolicy ? Math.min(policy.nanos(), delayNanos) : delayNanos;
    }

    /**
     * Returns the durability required before writes are acknowledged: the strongest level that any of them requests.
     */
    Durability level() {
        return level;
    }

    /** Raises the required durability to at least this level. */
    void require(Durability atLeast) {
        level = level.orStronger(atLeast);
    }

    /**
     * Records that the flush of the commit has begun, and the position at which the log ends once the frame is written.
     */
    void sealed(long logEnd, boolean force) {
        end = logEnd;
        fsyncRequested = force;
    }

    /** Returns the position at which the log ends once the frame is written. */
    long end() {
        return end;
    }

    /** Whether the commit requires an fsync regardless of its durability level. */
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

    /** Calls the success method of every callback, in order. */
    void acknowledge() {
        while (notified < count) {
            int next = notified++;
            CallbackRunner.success(callbacks[next], sequences[next]);
        }
    }

    /** Calls the failure method of every callback that has not been called yet, in order. */
    void fail(StoreFailedException problem) {
        while (notified < count) {
            int next = notified++;
            CallbackRunner.failure(callbacks[next], problem);
        }
    }

    void clear() {
        Arrays.fill(callbacks, 0, count, null);
        count = 0;
        notified = 0;
        segment = -1;
        level = Durability.MEMORY;
        delayNanos = Long.MAX_VALUE;
        waitsByPolicy = false;
        frame.clear();
    }
}
