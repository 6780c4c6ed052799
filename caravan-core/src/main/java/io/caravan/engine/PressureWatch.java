package io.caravan.engine;

import io.caravan.HeapPressureListener;
import io.caravan.StoreConfig;
import io.caravan.StoreStats.HeapUse;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Checks heap usage, and notifies a {@link HeapPressureListener}. Used by the threads that flush or reclaim. */
final class PressureWatch {
    private static final double RELIEF = 0.9;
    /** The threshold that disables a check: it counts as never reached, and never delays the report of relief. */
    private static final double NEVER = 1;

    private final @Nullable HeapPressureListener listener;
    private final double usedThreshold;
    private final double fragmentationThreshold;
    private final long maxHeapBytes;
    /** Number of checks requested since a thread began to check; 0 if no thread is checking. */
    private final AtomicInteger requested = new AtomicInteger();
    /** Whether the heap is under pressure. Used only by the thread that is checking. */
    private boolean high;

    PressureWatch(StoreConfig config) {
        listener = config.heapPressureListener();
        usedThreshold = config.heapUsedThreshold();
        fragmentationThreshold = config.heapFragmentationThreshold();
        maxHeapBytes = config.maxHeapBytes();
    }

    /**
     * Checks heap usage. Only one thread checks at a time, so that the listener is notified of every crossing in order.
     * If another thread is already checking, that thread repeats the check.
     */
    void check(Supplier<HeapUse> use) {
        if (listener == null || requested.getAndIncrement() > 0) {
            return;
        }
        int seen;
        do {
            seen = requested.get();
            check(use.get(), listener);
        } while (!requested.compareAndSet(seen, 0));
    }

    private void check(HeapUse use, HeapPressureListener notified) {
        double used = (double) use.usedBytes() / maxHeapBytes;
        double fragmentation = use.fragmentation();
        boolean crossed = high
                ? isOver(used, usedThreshold) && isOver(fragmentation, fragmentationThreshold)
                : isReached(used, usedThreshold) || isReached(fragmentation, fragmentationThreshold);
        if (crossed) {
            high = !high;
            WorkerThread.runUserCode("A heap-pressure listener", () -> notified.pressure(high, used, fragmentation));
        }
    }

    private static boolean isReached(double measure, double threshold) {
        return threshold != NEVER && measure >= threshold;
    }

    private static boolean isOver(double measure, double threshold) {
        return threshold == NEVER || measure < threshold * RELIEF;
    }
}
