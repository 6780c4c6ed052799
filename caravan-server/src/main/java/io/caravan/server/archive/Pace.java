package io.caravan.server.archive;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the bytes written to an archive per second, and reports their number. Each write reserves the time that its
 * bytes take, and the next write waits until that time has passed. Writes may use up to a tenth of a second in advance,
 * so that small objects do not wait for each other. Thread-safe.
 */
public final class Pace {
    /** The pace of an archive without a limit. */
    public static final Pace UNLIMITED = new Pace(0, bytes -> {});

    /** The number of bytes for which a large write reserves bandwidth at a time. */
    private static final int PORTION_BYTES = 64 * 1024;

    private static final long CREDIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Logger LOG = LoggerFactory.getLogger(Pace.class);

    private final long bytesPerSecond;
    private final LongConsumer written;
    /** The {@link System#nanoTime} until which earlier writes have reserved the bandwidth. */
    private long paidNanos = System.nanoTime();

    /**
     * Creates a limit.
     *
     * @param bytesPerSecond 0 for no limit
     * @param written receives the number of bytes, on any thread
     */
    public Pace(long bytesPerSecond, LongConsumer written) {
        this.bytesPerSecond = bytesPerSecond;
        this.written = written;
    }

    /** Returns a stream whose writes wait. */
    OutputStream limit(OutputStream out) {
        return new Paced(out);
    }

    /** Waits after an object was put, for objects that nothing may delay after the owner's check of the root. */
    void waitAfter(String key, int bytes) {
        try {
            pay(bytes);
        } catch (InterruptedIOException stopped) {
            // The put took place. The thread stays interrupted, so its next wait ends at once.
            LOG.debug(
                    "object '{}' was put, but the wait for its bandwidth was interrupted: {}",
                    key,
                    stopped.getMessage());
        }
    }

    /**
     * Waits until this number of bytes may be sent.
     *
     * @throws InterruptedIOException when the thread is interrupted; it stays interrupted
     */
    void pay(int bytes) throws InterruptedIOException {
        if (bytesPerSecond > 0) {
            long start = reserve(bytes);
            for (long wait = start - System.nanoTime(); wait > 0; wait = start - System.nanoTime()) {
                LockSupport.parkNanos(this, wait);
                if (Thread.currentThread().isInterrupted()) {
                    throw new InterruptedIOException("the archiver stops");
                }
            }
        }
        written.accept(bytes);
    }

    /** Returns the {@link System#nanoTime} at which these bytes may be sent. */
    private synchronized long reserve(int bytes) {
        long credited = System.nanoTime() - CREDIT_NANOS;
        long start = paidNanos - credited < 0 ? credited : paidNanos;
        paidNanos = start + (long) ((double) bytes / bytesPerSecond * TimeUnit.SECONDS.toNanos(1));
        return start;
    }

    private final class Paced extends FilterOutputStream {
        Paced(OutputStream out) {
            super(out);
        }

        @Override
        public void write(int value) throws IOException {
            pay(1);
            out.write(value);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            for (int done = 0; done < length; done += PORTION_BYTES) {
                int portion = Math.min(PORTION_BYTES, length - done);
                pay(portion);
                out.write(bytes, offset + done, portion);
            }
        }
    }
}
