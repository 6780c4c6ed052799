package io.caravan.engine;

import io.caravan.HeapPressureListener;
import io.caravan.StoreConfig;
import io.caravan.StoreStats.HeapUse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a {@link HeapPressureListener} when a mark is crossed, with hysteresis: pressure is over only when both measures
 * have fallen a tenth below their marks. Used by the flusher only.
 */
final class PressureWatch {
    private static final Logger LOG = LoggerFactory.getLogger(PressureWatch.class);
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
        try {
            told.pressure(high, used, fragmentation);
        } catch (RuntimeException thrown) {
            LOG.error("A heap-pressure listener threw", thrown);
        }
    }
}
