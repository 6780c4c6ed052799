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
 * Shows the progress of a long command on the error stream every {@value #TICK_SECONDS} seconds. Rewrites one line on a
 * terminal, and prints new lines to a log. Thread-safe.
 */
public final class Progress implements AutoCloseable {
    private static final long TICK_SECONDS = 2;
    private static final String ERASE_LINE = "\r\u001b[K";

    private final PrintWriter err;
    private final boolean terminal;
    private @Nullable ScheduledExecutorService ticks;
    private boolean visible;
    private boolean closed;
    private long count;
    private long bytes;

    private Progress(PrintWriter err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    /** Creates a counter that prints nothing. */
    public static Progress silent() {
        return new Progress(new PrintWriter(Writer.nullWriter()), false);
    }

    /** Creates a counter of items with this name, and of their bytes, that prints only to a terminal. */
    static Progress counting(PrintWriter err, boolean terminal, String unit) {
        Progress progress = new Progress(err, terminal);
        if (terminal) {
            progress.start(() -> progress.counted(unit));
        }
        return progress;
    }

    /** Prints lines from a supplier, which is called on a dedicated thread, until the returned object is closed. */
    static Progress ticking(PrintWriter err, boolean terminal, Supplier<String> line) {
        Progress progress = new Progress(err, terminal);
        progress.start(line);
        return progress;
    }

    private void start(Supplier<String> line) {
        ticks = Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("caravan-progress", true));
        ticks.scheduleAtFixedRate(() -> print(line.get()), TICK_SECONDS, TICK_SECONDS, TimeUnit.SECONDS);
    }

    public synchronized void add(long more, long moreBytes) {
        count += more;
        bytes += moreBytes;
    }

    private synchronized String counted(String unit) {
        return String.format(Locale.ROOT, "%,d %s, %s", count, unit, Figures.size(bytes));
    }

    private synchronized void print(String line) {
        if (closed) {
            // The line was requested before the close, but became ready only afterward.
            return;
        }
        if (terminal) {
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
        synchronized (this) {
            closed = true;
            if (visible) {
                err.print(ERASE_LINE);
                err.flush();
            }
        }
    }
}
