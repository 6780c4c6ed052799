package io.caravan.server.app;

import io.caravan.DurableListStore;
import io.caravan.Shards;
import io.caravan.StoreConfig;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Stores as users have them, but with files so small that making them costs a test little: those of the default sizes
 * begin as 96 MiB of zeros. A store keeps the sizes that it was made with, so a server finds it like any other.
 */
public final class SmallFiles {
    private static final int MEBIBYTE = 1024 * 1024;
    /** More than a server's log buffer. */
    private static final int LOG_SEGMENT_BYTES = 5 * MEBIBYTE;
    /** More than the longest value that a server takes by default. */
    private static final int HEAP_SEGMENT_BYTES = 4 * MEBIBYTE;

    private SmallFiles() {}

    /** The default settings of a store but for the sizes. */
    public static StoreConfig.Builder config(Path directory) {
        return StoreConfig.builder(directory).logSegmentBytes(LOG_SEGMENT_BYTES).heapSegmentBytes(HEAP_SEGMENT_BYTES);
    }

    /** Opens a store of these settings. */
    public static DurableListStore open(Path directory) {
        return DurableListStore.open(config(directory).build());
    }

    /** Makes an empty store of so many groups, for a server to find, unless the directory is there. */
    public static void make(Path directory, int groups) {
        if (!Files.exists(directory)) {
            Shards.open(config(directory).build(), groups).close();
        }
    }
}
