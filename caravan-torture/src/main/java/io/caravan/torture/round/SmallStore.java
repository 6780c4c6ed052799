package io.caravan.torture.round;

import io.caravan.StoreConfig;
import java.nio.file.Path;

/** Settings that make a store's segments small, so that rotations, checkpoints, and recycling happen in every round. */
public final class SmallStore {
    public static final long CHECKPOINT_FLOOR_BYTES = 256 * 1024;
    /** Maximum length of the values that are written to one store. */
    public static final int MAX_VALUE_BYTES = 32 * 1024;

    private static final int LOG_BUFFER_BYTES = 128 * 1024;
    private static final int SEGMENT_BYTES = 256 * 1024;
    /**
     * The checkpoint fraction: low, so that checkpoints occur every few segments regardless of the size of the index.
     */
    private static final double CHECKPOINT_FRACTION = 0.1;

    private SmallStore() {}

    public static StoreConfig config(Path directory, int maxValueBytes) {
        return builder(directory, maxValueBytes).build();
    }

    public static StoreConfig.Builder builder(Path directory, int maxValueBytes) {
        return StoreConfig.builder(directory)
                .maxValueBytes(maxValueBytes)
                .logBufferBytes(LOG_BUFFER_BYTES)
                .logSegmentBytes(SEGMENT_BYTES)
                .heapSegmentBytes(SEGMENT_BYTES)
                .checkpointFloorBytes(CHECKPOINT_FLOOR_BYTES)
                .checkpointFraction(CHECKPOINT_FRACTION);
    }
}
