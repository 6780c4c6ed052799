package io.caravan.server.cli;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** One line on the error stream that says how far a long command is, if a person is there to see it come and go. */
final class Progress implements AutoCloseable {
    private static final long FIRST_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long AGAIN_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final String ERASE_LINE = "\r\u001b[K";
    private static final double MEBIBYTE = 1024 * 1024;

    private final PrintWriter err;
    private final boolean shown;
    private final long startedNanos = System.nanoTime();
    private long lastNanos = startedNanos + FIRST_AFTER_NANOS - AGAIN_AFTER_NANOS;
    private boolean visible;
    private long values;
    private long bytes;

    Progress(PrintWriter err, boolean shown) {
        this.err = err;
        this.shown = shown;
    }

    /** Counts what has been done. */
    void add(long moreValues, long moreBytes) {
        values += moreValues;
        bytes += moreBytes;
        long now = System.nanoTime();
        if (shown && now - lastNanos >= AGAIN_AFTER_NANOS) {
            lastNanos = now;
            visible = true;
            err.printf(Locale.ROOT, "%s%,d values, %,.1f MiB", ERASE_LINE, values, bytes / MEBIBYTE);
            err.flush();
        }
    }

    /** Takes the line away. */
    @Override
    public void close() {
        if (visible) {
            err.print(ERASE_LINE);
            err.flush();
        }
    }
}
