package io.caravan.server.cli.archive;

import io.caravan.server.archive.restore.RestoreProgress;
import io.caravan.server.archive.restore.RestoreProgress.Figures;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Prints every two seconds how far a whole restore is, on a thread of its own. */
final class ProgressTicker implements AutoCloseable {
    private static final long EVERY_SECONDS = 2;
    private static final double MEGABYTE = 1e6;
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final RestoreProgress progress;
    private final PrintWriter err;
    private final long startedNanos = System.nanoTime();
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("caravan-progress", true));

    ProgressTicker(RestoreProgress progress, PrintWriter err) {
        this.progress = progress;
        this.err = err;
        thread.scheduleAtFixedRate(this::print, EVERY_SECONDS, EVERY_SECONDS, TimeUnit.SECONDS);
    }

    private void print() {
        err.println(line(progress.figures(), (System.nanoTime() - startedNanos) / NANOS_PER_SECOND));
        err.flush();
    }

    /** What is done after so many seconds, at which rate, and how long the rest will take at the same rate. */
    static String line(Figures figures, double seconds) {
        boolean known = figures.total() >= 0;
        String of = known ? String.format(Locale.ROOT, " of %,d", figures.total()) : "";
        String line = String.format(
                Locale.ROOT,
                "%,d%s documents, %,.1f MB/s, %d faults",
                figures.done(),
                of,
                figures.movedBytes() / MEGABYTE / seconds,
                figures.faults());
        if (!known || figures.done() == 0) {
            return line;
        }
        long left = Math.round((figures.total() - figures.done()) * seconds / figures.done());
        Duration rest = Duration.ofSeconds(Math.max(0, left));
        return line
                + String.format(
                        Locale.ROOT, ", %d:%02d:%02d left", rest.toHours(), rest.toMinutesPart(), rest.toSecondsPart());
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
