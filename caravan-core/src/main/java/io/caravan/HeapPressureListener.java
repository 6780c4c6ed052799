package io.caravan;

/**
 * Notifies an embedding server that it should snapshot and trim.
 *
 * <p>Called on a store thread when the heap's used fraction or its fragmentation reaches its mark, and again when both
 * have fallen a tenth below their marks, so that small changes around a mark are not reported. A mark of 1 leaves its
 * measure out of account. The listener must not block.
 */
@FunctionalInterface
public interface HeapPressureListener {

    /**
     * The heap came under pressure, or out of it.
     *
     * @param high true when a mark was crossed upwards; false when pressure is over
     * @param usedFraction bytes of live entries, those in the log included, over the heap's greatest size
     * @param fragmentation see {@link StoreStats.HeapUse#fragmentation()}
     */
    void pressure(boolean high, double usedFraction, double fragmentation);
}
