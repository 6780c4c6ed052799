package io.caravan.bench.torture;

import io.caravan.StoreConfig;
import java.nio.file.Path;
import java.util.List;

/**
 * What a child process is to do.
 *
 * @param socket where it reports
 * @param directory the store
 * @param work whether to write at random; otherwise to tell what the store holds
 * @param seed of all that is random in it
 */
record ChildPlan(Path socket, Path directory, boolean work, long seed, int round, int workers, int lists) {
    static final int MAX_VALUE_BYTES = 32 * 1024;

    private static final int LOG_BUFFER_BYTES = 64 * 1024;
    private static final int SEGMENT_BYTES = 256 * 1024;
    private static final long CHECKPOINT_FLOOR_BYTES = 256 * 1024;
    /** Low, so that checkpoints come every few segments however large the index is. */
    private static final double CHECKPOINT_FRACTION = 0.1;

    List<String> toArguments() {
        return List.of(
                socket.toString(),
                directory.toString(),
                Boolean.toString(work),
                Long.toString(seed),
                Integer.toString(round),
                Integer.toString(workers),
                Integer.toString(lists));
    }

    static ChildPlan parse(String[] arguments) {
        return new ChildPlan(
                Path.of(arguments[0]),
                Path.of(arguments[1]),
                Boolean.parseBoolean(arguments[2]),
                Long.parseLong(arguments[3]),
                Integer.parseInt(arguments[4]),
                Integer.parseInt(arguments[5]),
                Integer.parseInt(arguments[6]));
    }

    /** Small segments, so that rotations, checkpoints and recycling happen in every round. */
    StoreConfig config() {
        return StoreConfig.builder(directory)
                .maxValueBytes(MAX_VALUE_BYTES)
                .logBufferBytes(LOG_BUFFER_BYTES)
                .logSegmentBytes(SEGMENT_BYTES)
                .heapSegmentBytes(SEGMENT_BYTES)
                .checkpointFloorBytes(CHECKPOINT_FLOOR_BYTES)
                .checkpointFraction(CHECKPOINT_FRACTION)
                .build();
    }
}
