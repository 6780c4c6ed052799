package io.caravan.engine;

import io.caravan.heap.HeapFile;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes log and heap segments ahead of need, and takes away those that no checkpoint needs any more. The only one that
 * adds or removes files of either, so neither has a race to lose.
 *
 * <p>When the disk has no space it says so ({@link #logStarved()}, {@link #heapStarved()}) and tries again until it has.
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
    private Runnable wake = () -> {};
    private Runnable wakeFlusher = () -> {};
    private Runnable wakeCheckpointer = () -> {};
    private @Nullable HeapSpace space;

    private volatile long enteredSegment;
    private volatile long lastReadySegment;
    private volatile long neededLogSegment;
    private volatile int neededHeapSegments = Integer.MAX_VALUE;
    private volatile @Nullable IOException logProblem;
    private volatile @Nullable IOException heapProblem;

    Provisioner(StoreState state, LogSegments log, HeapFile heapFile, long segment, long neededLogSegment) {
        this.state = state;
        this.log = log;
        this.heapFile = heapFile;
        this.enteredSegment = segment;
        this.neededLogSegment = neededLogSegment;
        this.lastReadySegment = log.last();
    }

    /**
     * Sets whom it serves and tells.
     *
     * @param wakeCheckpointing is run as long as the log cannot grow: a checkpoint may free some of it
     */
    void serve(HeapSpace heapSpace, Runnable wakeWorker, Runnable wakeFlushing, Runnable wakeCheckpointing) {
        space = heapSpace;
        wake = wakeWorker;
        wakeFlusher = wakeFlushing;
        wakeCheckpointer = wakeCheckpointing;
    }

    void wake() {
        wake.run();
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

    boolean heapStarved() {
        return heapProblem != null;
    }

    String starvedBecause() {
        IOException problem = logProblem != null ? logProblem : heapProblem;
        return problem == null ? "the disk had no space a moment ago" : String.valueOf(problem.getMessage());
    }

    /** No checkpoint needs log segments before {@code logSegment} or heap segments from {@code heapSegments} on. */
    void release(long logSegment, int heapSegments) {
        neededLogSegment = logSegment;
        neededHeapSegments = heapSegments;
        wake();
    }

    /**
     * A replay may need so many heap segments, until {@link #release} says otherwise. Called under the store's lock before
     * any of them goes out of use, as the newest published checkpoint knows nothing of those that were added since.
     */
    void keepHeap(int heapSegments) {
        neededHeapSegments = Math.max(neededHeapSegments, heapSegments);
    }

    /** Does all that is wanted now; see {@link Worker.Step}. */
    long step() {
        logProblem = attempt("log", logProblem, this::provideLog);
        heapProblem = attempt("heap", heapProblem, this::provideHeap);
        signalChange();
        if (logStarved()) {
            wakeCheckpointer.run();
        }
        return logStarved() || heapStarved() ? RETRY_NANOS : Worker.UNTIL_WOKEN;
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
                        "{}: the {} cannot grow, so appends may be refused; trying on: {}",
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
        HeapSpace served = space;
        if (served == null) {
            return;
        }
        while (locked(served::wantsGrowth)) {
            if (heapFile.segmentCount() == locked(served::segments)) {
                heapFile.createNext();
            }
            locked(() -> {
                served.addSegment();
                return true;
            });
        }
        int needed = locked(() -> Math.max(neededHeapSegments, served.segments()));
        if (heapFile.segmentCount() > needed) {
            heapFile.dropFrom(needed);
        }
    }

    private <T> T locked(java.util.function.Supplier<T> action) {
        state.lock.lock();
        try {
            return action.get();
        } finally {
            state.lock.unlock();
        }
    }

    private void countFailure() {
        locked(() -> state.counters.failures++);
    }

    /** Tells those who wait for space, and the flusher, which tells those who wait for writability. */
    private void signalChange() {
        locked(() -> {
            state.changed.signalAll();
            return true;
        });
        wakeFlusher.run();
    }
}
