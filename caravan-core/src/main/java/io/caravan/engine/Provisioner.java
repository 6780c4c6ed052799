package io.caravan.engine;

import io.caravan.heap.HeapFile;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes log and heap segments ahead of need, and takes away those that no checkpoint needs any more. Nobody else adds
 * or removes files of either, so there is no race to lose.
 *
 * <p>When the disk has no space it says so ({@link #logStarved()}, {@link HeapSpace#growthProblem}) and tries again
 * until it has.
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
    private final HeapFile heapFile;
    private final HeapSpace space;
    private final Wakes wakes;

    private volatile long enteredSegment;
    private volatile long lastReadySegment;
    private volatile long neededLogSegment;
    private volatile int neededHeapSegments = Integer.MAX_VALUE;
    private volatile @Nullable IOException logProblem;
    private @Nullable IOException heapProblem;

    Provisioner(StoreState state, HeapSpace space, Recovered recovered, Wakes wakes) {
        this.state = state;
        this.space = space;
        this.wakes = wakes;
        this.log = recovered.log();
        this.heapFile = recovered.heapFile();
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
        return problem == null ? "the disk had no space a moment ago" : String.valueOf(problem.getMessage());
    }

    /** No checkpoint needs log segments before {@code logSegment} or heap segments from {@code heapSegments} on. */
    void release(long logSegment, int heapSegments) {
        neededLogSegment = logSegment;
        neededHeapSegments = heapSegments;
        wake();
    }

    /**
     * A replay may need so many heap segments, until {@link #release} says otherwise. Called under the store's lock
     * before any of them goes out of use, as the newest published checkpoint knows nothing of those that were added
     * since.
     */
    void keepHeap(int heapSegments) {
        neededHeapSegments = Math.max(neededHeapSegments, heapSegments);
    }

    /** Does all that is wanted now; see {@link Worker.Step}. */
    long step() {
        logProblem = attempt("log", logProblem, this::provideLog);
        heapProblem = attempt("heap", heapProblem, this::provideHeap);
        String problem = heapProblem == null ? null : heapProblem.getMessage();
        locked(() -> space.growthProblem(problem));
        signalChange();
        if (logStarved()) {
            // A checkpoint may make log segments free.
            wakes.checkpointer().run();
        }
        return logStarved() || heapProblem != null ? RETRY_NANOS : Worker.UNTIL_WOKEN;
    }

    private interface Act {
        void run() throws IOException;
    }

    private @Nullable IOException attempt(String what, @Nullable IOException before, Act act) {
        try {
            act.run();
            if (before != null) {
                LOG.info("{}: the {} can grow again", state.name(), what);
            }
            return null;
        } catch (IOException refused) {
            if (before == null) {
                countFailure();
                LOG.warn(
                        "{}: the {} cannot grow, so appends may be refused; trying again: {}",
                        state.name(),
                        what,
                        refused.toString());
            }
            return refused;
        }
    }

    private void provideLog() throws IOException {
        log.retireBefore(neededLogSegment, enteredSegment + KEPT_AHEAD);
        lastReadySegment = log.last();
        while (log.last() < enteredSegment + READY_AHEAD) {
            log.prepareNext();
            lastReadySegment = log.last();
            signalChange();
        }
    }

    private void provideHeap() throws IOException {
        while (read(space::wantsGrowth)) {
            if (heapFile.segmentCount() == read(space::segments)) {
                heapFile.createNext();
            }
            locked(space::addSegment);
        }
        int needed = read(() -> Math.max(neededHeapSegments, space.segments()));
        if (heapFile.segmentCount() > needed) {
            heapFile.dropFrom(needed);
        }
    }

    private <T> T read(Supplier<T> value) {
        state.lock.lock();
        try {
            return value.get();
        } finally {
            state.lock.unlock();
        }
    }

    private void locked(Runnable action) {
        state.lock.lock();
        try {
            action.run();
        } finally {
            state.lock.unlock();
        }
    }

    private void countFailure() {
        locked(() -> state.counters.failures++);
    }

    /** Wakes those who wait for space, and the flusher, which runs the actions of those who wait for writability. */
    private void signalChange() {
        locked(state.changed::signalAll);
        wakes.flusher().run();
    }
}
