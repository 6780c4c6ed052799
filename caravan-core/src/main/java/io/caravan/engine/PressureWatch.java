package io.caravan.engine;

import io.caravan.HeapPressureListener;
import io.caravan.StoreConfig;
import io.caravan.StoreStats.HeapUse;
import org.jspecify.annotations.Nullable;

/**
 * Tells a {@link HeapPressureListener} when a mark is crossed, with hysteresis: pressure is over only when both measures
 * have fallen a tenth below their marks. Used by the flusher only.
 */
final class PressureWatch {
    private static final double RELIEF = 0.9;

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
        boolean above = used >= usedMark || fragmentation >= fragmentationMark;
        boolean below = used < usedMark * RELIEF && fragmentation < fragmentationMark * RELIEF;
        if (high ? below : above) {
            high = !high;
            tell(used, fragmentation);
        }
    }

    private void tell(double used, double fragmentation) {
        HeapPressureListener told = listener;
        if (told == null) {
            return;
        }
        Guarded.run("A heap-pressure listener", () -> told.pressure(high, used, fragmentation));
    }
}
