package io.caravan.server.app;

import io.caravan.DurableListStore;
import io.caravan.Shards;
import io.caravan.StoreConfig;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Opens stores with default settings except for smaller files, which are faster to create. With the default sizes, a
 * new store writes 96 MiB of zeros. A store keeps the file sizes with which it was created, so a server can open it.
 */
public final class SmallFiles {
    private static final int MEBIBYTE = 1024 * 1024;
    /** The size of a log segment, which exceeds the log buffer of a server. */
    private static final int LOG_SEGMENT_BYTES = 5 * MEBIBYTE;
    /** The size of a heap segment, which exceeds the default maximum length of a value. */
    private static final int HEAP_SEGMENT_BYTES = 4 * MEBIBYTE;

    private SmallFiles() {}

    /** Returns the default settings of a store, except for smaller files. */
    public static StoreConfig.Builder config(Path directory) {
        return StoreConfig.builder(directory).logSegmentBytes(LOG_SEGMENT_BYTES).heapSegmentBytes(HEAP_SEGMENT_BYTES);
    }

    /** Opens a store with these settings. */
    public static DurableListStore open(Path directory) {
        return DurableListStore.open(config(directory).build());
    }

    /** Creates an empty store with {@code groups} shards, or does nothing if the directory already exists. */
    public static void make(Path directory, int groups) {
        if (!Files.exists(directory)) {
            Shards.open(config(directory).build(), groups).close();
        }
    }
}
