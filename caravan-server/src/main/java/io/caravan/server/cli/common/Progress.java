package io.caravan.server.cli.common;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * One line on the error stream that says how far a long command is, if a person is there to see it come and go. For any
 * number of threads.
 */
public final class Progress implements AutoCloseable {
    private static final long FIRST_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long AGAIN_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final String ERASE_LINE = "\r\u001b[K";
    private static final double MEBIBYTE = 1024 * 1024;

    private final PrintWriter err;
    private final boolean shown;
    private final String unit;
    private final long startedNanos = System.nanoTime();
    private long lastNanos = startedNanos + FIRST_AFTER_NANOS - AGAIN_AFTER_NANOS;
    private boolean visible;
    private long count;
    private long bytes;

    /**
     * Nothing is done yet.
     *
     * @param shown whether anybody looks
     * @param unit what is counted beside bytes
     */
    public Progress(PrintWriter err, boolean shown, String unit) {
        this.err = err;
        this.shown = shown;
        this.unit = unit;
    }

    /** Counts what has been done. */
    public synchronized void add(long more, long moreBytes) {
        count += more;
        bytes += moreBytes;
        long now = System.nanoTime();
        if (shown && now - lastNanos >= AGAIN_AFTER_NANOS) {
            lastNanos = now;
            visible = true;
            err.printf(Locale.ROOT, "%s%,d %s, %,.1f MiB", ERASE_LINE, count, unit, bytes / MEBIBYTE);
            err.flush();
        }
    }

    /** Takes the line away. */
    @Override
    public synchronized void close() {
        if (visible) {
            err.print(ERASE_LINE);
            err.flush();
        }
    }
}
