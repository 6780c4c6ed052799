package io.caravan.server.cli.common;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Shows on the error stream how far a long command is: to a person, in one line that is rewritten; to a log, where that
 * is wanted, in a new line each time. Thread-safe.
 */
public final class Progress implements AutoCloseable {
    private static final long FIRST_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long AGAIN_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long TICK_SECONDS = 2;
    private static final String ERASE_LINE = "\r\u001b[K";
    private static final double MEBIBYTE = 1024 * 1024;

    private final PrintWriter err;
    private final boolean shown;
    private final String unit;
    private @Nullable ScheduledExecutorService ticks;
    private long lastNanos = System.nanoTime() + FIRST_AFTER_NANOS - AGAIN_AFTER_NANOS;
    private boolean visible;
    private boolean closed;
    private long count;
    private long bytes;

    /**
     * Counts from zero; shown to a person only.
     *
     * @param shown whether a person looks
     * @param unit what is counted besides bytes
     */
    public Progress(PrintWriter err, boolean shown, String unit) {
        this.err = err;
        this.shown = shown;
        this.unit = unit;
    }

    /**
     * Prints a line every {@value #TICK_SECONDS} seconds until it is closed, to a log too.
     *
     * @param shown whether a person looks
     * @param line asked on a thread of its own
     */
    public static Progress ticking(PrintWriter err, boolean shown, Supplier<String> line) {
        Progress progress = new Progress(err, shown, "");
        ScheduledExecutorService ticks =
                Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("caravan-progress", true));
        progress.ticks = ticks;
        ticks.scheduleAtFixedRate(() -> progress.print(line.get()), TICK_SECONDS, TICK_SECONDS, TimeUnit.SECONDS);
        return progress;
    }

    /** Counts what has been done. */
    public synchronized void add(long more, long moreBytes) {
        count += more;
        bytes += moreBytes;
        long now = System.nanoTime();
        if (shown && now - lastNanos >= AGAIN_AFTER_NANOS) {
            lastNanos = now;
            print(String.format(Locale.ROOT, "%,d %s, %,.1f MiB", count, unit, bytes / MEBIBYTE));
        }
    }

    private synchronized void print(String line) {
        if (closed) {
            // It was asked for before, and took its time.
            return;
        }
        if (shown) {
            visible = true;
            err.print(ERASE_LINE + line);
        } else {
            err.println(line);
        }
        err.flush();
    }

    /** Erases the line. */
    @Override
    public void close() {
        if (ticks != null) {
            ticks.shutdownNow();
        }
        erase();
    }

    private synchronized void erase() {
        closed = true;
        if (visible) {
            visible = false;
            err.print(ERASE_LINE);
            err.flush();
        }
    }
}
