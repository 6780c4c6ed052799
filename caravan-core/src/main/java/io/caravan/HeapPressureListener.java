package io.caravan;

/**
 * Receives notifications of heap pressure, so that the application can trim its lists.
 *
 * <p>The store calls the listener on a store thread when the heap usage or the fragmentation reaches its threshold, and
 * again once both have fallen 10% below their thresholds (hysteresis). A threshold of 1 disables its check. The
 * listener must not block.
 */
@FunctionalInterface
public interface HeapPressureListener {

    /**
     * Reports that heap pressure began or ended.
     *
     * @param high true if a threshold was reached; false if the pressure has ended
     * @param usedFraction total size of the live entries, including those in the log, divided by the maximum heap size
     * @param fragmentation see {@link StoreStats.HeapUse#fragmentation()}
     */
    void pressure(boolean high, double usedFraction, double fragmentation);
}
