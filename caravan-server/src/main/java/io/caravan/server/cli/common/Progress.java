package io.caravan.server.cli.common;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Shows the progress of a long command on the error stream. Rewrites one line on a terminal. Prints new lines to a log
 * only if the caller requests this. Thread-safe.
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
     * Creates a progress counter that starts at zero and prints only to a terminal.
     *
     * @param shown whether the error stream is a terminal
     * @param unit the name of the counted items; bytes are also counted
     */
    public Progress(PrintWriter err, boolean shown, String unit) {
        this.err = err;
        this.shown = shown;
        this.unit = unit;
    }

    /** Creates a progress counter that prints nothing. */
    public static Progress silent() {
        return new Progress(new PrintWriter(Writer.nullWriter()), false, "");
    }

    /**
     * Prints a line every {@value #TICK_SECONDS} seconds, even to a log, until the returned object is closed.
     *
     * @param shown whether the error stream is a terminal
     * @param line supplies the line; called on a dedicated thread
     */
    public static Progress ticking(PrintWriter err, boolean shown, Supplier<String> line) {
        Progress progress = new Progress(err, shown, "");
        ScheduledExecutorService ticks =
                Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("caravan-progress", true));
        progress.ticks = ticks;
        ticks.scheduleAtFixedRate(() -> progress.print(line.get()), TICK_SECONDS, TICK_SECONDS, TimeUnit.SECONDS);
        return progress;
    }

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
            // The line was requested before the close, but became ready only afterward.
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

    /** Stops printing, and erases the line. */
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
