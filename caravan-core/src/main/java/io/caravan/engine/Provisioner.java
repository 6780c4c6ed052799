package io.caravan.engine;

import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes log segments ahead of need, and takes away those that no checkpoint needs any more. Nobody else adds or removes
 * any, so there is no race to lose. When the disk has no space it says so ({@link #logStarved()}), and tries again until
 * it has.
 */
final class Provisioner {
    private static final Logger LOG = LoggerFactory.getLogger(Provisioner.class);
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Segments ready behind the one in use: the next, and the reserve for trims and deletes. */
    private static final int READY_AHEAD = 2;
    /** Up to so many are kept for recycling, so that a steady load makes no new files. */
    private static final int KEPT_AHEAD = 8;

    private final StoreState state;
    private final LogSegments log;
    private final FileLeases leases;
    private final Wakes wakes;

    private volatile long enteredSegment;
    private volatile long lastReadySegment;
    private volatile long neededLogSegment;
    private volatile @Nullable IOException logProblem;
    private volatile @Nullable IOException logKept;

    Provisioner(StoreState state, Recovered recovered, FileLeases leases, Wakes wakes) {
        this.state = state;
        this.leases = leases;
        this.wakes = wakes;
        this.log = recovered.log();
        this.enteredSegment = log.geometry().segmentOf(recovered.end().position());
        this.neededLogSegment = recovered.neededLogSegment();
        this.lastReadySegment = log.last();
    }

    /** How the workers of an open store are woken. */
    record Wakes(Runnable flusher, Runnable checkpointer, Runnable provisioner) {}

    void wake() {
        wakes.provisioner().run();
    }

    /** Frames are now placed in this segment. */
    void enteredSegment(long segment) {
        if (segment > enteredSegment) {
            enteredSegment = segment;
            wake();
        }
    }

    /** The segment in which frames are placed now. */
    long currentSegment() {
        return enteredSegment;
    }

    long lastReadySegment() {
        return lastReadySegment;
    }

    boolean logStarved() {
        return logProblem != null;
    }

    /** The first log segment that a checkpoint still needs. */
    long neededLogSegment() {
        return neededLogSegment;
    }

    /** Why the log cannot grow. */
    String logProblem() {
        IOException problem = logProblem;
        String cause = problem == null ? "the disk had no space a moment ago" : String.valueOf(problem.getMessage());
        IOException kept = logKept;
        return kept == null ? cause : cause + "; " + kept.getMessage();
    }

    /** Checkpoints leave the log as long as it is, for this reason; null when they do not. */
    void logKept(@Nullable IOException reason) {
        logKept = reason;
    }

    /** No checkpoint needs log segments before this one. */
    void release(long logSegment) {
        neededLogSegment = logSegment;
        wake();
    }

    /** Makes and retires what is wanted now; see {@link Worker.Step}. */
    long step() {
        IOException before = logProblem;
        try {
            provide();
            logProblem = null;
            if (before != null) {
                LOG.info("{}: the log can grow again", state.name());
            }
        } catch (IOException refused) {
            logProblem = refused;
            if (before == null) {
                countFailure();
                LOG.warn("{}: the log cannot grow, so appends may be refused; trying again", state.name(), refused);
            }
        }
        signalChange();
        if (!logStarved()) {
            return Worker.UNTIL_WOKEN;
        }
        // A checkpoint may make log segments free.
        wakes.checkpointer().run();
        return RETRY_NANOS;
    }

    private void provide() throws IOException {
        log.retireBefore(leases.firstLogSegment(neededLogSegment), enteredSegment + KEPT_AHEAD);
        lastReadySegment = log.last();
        while (log.last() < enteredSegment + READY_AHEAD) {
            log.prepareNext(survivorBytes());
            lastReadySegment = log.last();
            signalChange();
        }
    }

    /** Bytes that are in the log and may have to move to the heap. */
    private long survivorBytes() {
        return state.locked(() -> state.index.logBytes());
    }

    private void countFailure() {
        state.locked(() -> state.counters.failures++);
    }

    /** Wakes those who wait for space, and the flusher, which runs the actions of those who wait for writability. */
    private void signalChange() {
        state.locked(() -> state.changed.signalAll());
        wakes.flusher().run();
    }
}
