package io.caravan.engine;

import io.caravan.HeapPressureListener;
import io.caravan.StoreConfig;
import io.caravan.StoreStats.HeapUse;
import org.jspecify.annotations.Nullable;

/** Notifies a {@link HeapPressureListener}. Used by the thread that flushes. */
final class PressureWatch {
    private static final double RELIEF = 0.9;
    /** A threshold that disables its check: it is never reached, and does not keep the pressure from ending. */
    private static final double NEVER = 1;

    private final @Nullable HeapPressureListener listener;
    private final double usedMark;
    private final double fragmentationMark;
    private final long maxHeapBytes;
    private boolean high;

    PressureWatch(StoreConfig config) {
        listener = config.heapPressureListener();
        usedMark = config.heapUsedMark();
        fragmentationMark = config.heapFragmentationMark();
        maxHeapBytes = config.maxHeapBytes();
    }

    boolean watches() {
        return listener != null;
    }

    void look(HeapUse use) {
        double used = (double) use.usedBytes() / maxHeapBytes;
        double fragmentation = use.fragmentation();
        boolean crossed = high
                ? isOver(used, usedMark) && isOver(fragmentation, fragmentationMark)
                : isReached(used, usedMark) || isReached(fragmentation, fragmentationMark);
        if (crossed) {
            high = !high;
            notifyListener(used, fragmentation);
        }
    }

    private static boolean isReached(double measure, double mark) {
        return mark != NEVER && measure >= mark;
    }

    private static boolean isOver(double measure, double mark) {
        return mark == NEVER || measure < mark * RELIEF;
    }

    private void notifyListener(double used, double fragmentation) {
        HeapPressureListener notified = listener;
        if (notified != null) {
            CallbackRunner.run("A heap-pressure listener", () -> notified.pressure(high, used, fragmentation));
        }
    }
}
