package io.caravan.server.archive.push;

import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Bounds bytes per second for all threads together. Each pays for its bytes by time that the next one has to wait for;
 * a tenth of a second may be unpaid, so that small objects do not wait for each other.
 */
final class Bandwidth {
    /** For a config that has no bound. */
    static final long UNBOUNDED = 0;

    private static final long CREDIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final long bytesPerSecond;
    private final LongSupplier nanoTime;
    /** Until when the bytes that were let through take. */
    private long paidNanos;

    /**
     * A bound.
     *
     * @param bytesPerSecond more than 0, or {@link #UNBOUNDED}
     */
    Bandwidth(long bytesPerSecond, LongSupplier nanoTime) {
        this.bytesPerSecond = bytesPerSecond;
        this.nanoTime = nanoTime;
        this.paidNanos = nanoTime.getAsLong();
    }

    /**
     * Waits until so many bytes may be sent.
     *
     * @throws InterruptedIOException when the thread is interrupted; it stays so
     */
    void await(int bytes) throws InterruptedIOException {
        long end = bytesPerSecond == UNBOUNDED ? nanoTime.getAsLong() : reserve(bytes);
        long wait = end - nanoTime.getAsLong();
        while (wait > 0) {
            LockSupport.parkNanos(this, wait);
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("the archiver stops");
            }
            wait = end - nanoTime.getAsLong();
        }
    }

    /** When these bytes may be sent. */
    private synchronized long reserve(int bytes) {
        long now = nanoTime.getAsLong();
        if (paidNanos - (now - CREDIT_NANOS) < 0) {
            paidNanos = now - CREDIT_NANOS;
        }
        long start = paidNanos;
        paidNanos += (long) ((double) bytes / bytesPerSecond * TimeUnit.SECONDS.toNanos(1));
        return start;
    }
}
