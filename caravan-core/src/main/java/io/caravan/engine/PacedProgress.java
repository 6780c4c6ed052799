package io.caravan.engine;

import io.caravan.VerifyReport;
import java.util.concurrent.TimeUnit;

/** Passes each step on when it begins, however quick it is, and then ten times a second at most. For one thread. */
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
