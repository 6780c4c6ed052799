package io.caravan.engine;

import io.caravan.VerifyReport;
import java.util.concurrent.TimeUnit;

/** Reports the progress of each step when the step begins, and then at most ten times a second. Used by one thread. */
public final class PacedProgress implements VerifyReport.Progress {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final VerifyReport.Progress progress;
    private String lastStep = "";
    private long lastNanos;

    public PacedProgress(VerifyReport.Progress progress) {
        this.progress = progress;
    }

    @Override
    public void at(String step, long done, long total) {
        long now = System.nanoTime();
        if (!step.equals(lastStep) || now - lastNanos >= PAUSE_NANOS) {
            lastStep = step;
            lastNanos = now;
            progress.at(step, done, total);
        }
    }
}
