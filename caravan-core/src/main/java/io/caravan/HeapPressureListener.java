package io.caravan;

/**
 * Tells an embedding server when to snapshot and trim.
 *
 * <p>Called on a store thread when the heap's used fraction or its fragmentation rises above its mark, and again when
 * both have fallen well below it (a tenth of the mark, so that the listener does not flutter). Must not block.
 */
@FunctionalInterface
public interface HeapPressureListener {

    /**
     * The heap came under pressure, or out of it.
     *
     * @param high true when a mark was crossed upwards; false when pressure is over
     * @param usedFraction bytes in live regions, over the heap's greatest size
     * @param fragmentation see {@link StoreStats.HeapUse#fragmentation()}
     */
    void pressure(boolean high, double usedFraction, double fragmentation);
}
