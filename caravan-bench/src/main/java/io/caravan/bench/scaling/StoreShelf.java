package io.caravan.bench.scaling;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.WriteCallback;
import io.caravan.bench.Directories;
import io.caravan.format.FileNames;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Stores that are built once and reused. Each is closed cleanly. If requested, the shelf also keeps an image of the
 * files of the open store, as a killed process would leave them. There is no checkpoint before the image, so opening it
 * replays every append.
 */
final class StoreShelf {
    /** Length of a value: small, so that ten million fit the time and the disk. */
    static final int VALUE_BYTES = 24;

    private static final int GROUP = 1_000;
    /** More log than any store writes. */
    private static final long NEVER = 1L << 40;

    private static final String TEMPORARY = FileNames.TEMPORARY_ENDING;

    private final Path work;
    private final boolean images;
    private final Map<Size, Built> stores = new HashMap<>();

    /**
     * Creates an empty shelf.
     *
     * @param images whether to keep images of the stores
     */
    StoreShelf(Path work, boolean images) {
        this.work = work;
        this.images = images;
    }

    /** Throws failures: the figures of refused writes would be meaningless. */
    static final WriteCallback CALLBACK = new WriteCallback() {
        @Override
        public void success(long sequence) {
            // Nothing waits for it.
        }

        @Override
        public void failure(CaravanException problem) {
            throw problem;
        }
    };

    /**
     * A built store.
     *
     * @param killed the image; null when there is none
     * @param logBytes log bytes that opening the image replays
     * @param nextSequences the next sequence of each list, by id; kept up to date by code that appends to the store
     */
    @SuppressWarnings("ArrayRecordComponent") // shared on purpose
    record Built(Path directory, @Nullable Path killed, long logBytes, int[] nextSequences) {}

    /** Returns the store of this size, and builds it if necessary. */
    Built get(Size size) throws IOException {
        Built built = stores.get(size);
        if (built == null) {
            built = build(
                    size, work.resolve("store-" + size.key()), images ? work.resolve("killed-" + size.key()) : null);
            stores.put(size, built);
        }
        return built;
    }

    private static Built build(Size size, Path directory, @Nullable Path killed) throws IOException {
        StoreConfig config = StoreConfig.builder(directory)
                .durability(Durability.PROCESS)
                .checkpointFloorBytes(NEVER)
                .build();
        try (DurableListStore store = DurableListStore.open(config)) {
            fill(store, size);
            if (killed != null) {
                forcedCopy(directory, killed);
            }
            // With the checkpoint on close, this is the second of two, after which the log is no longer retained.
            store.checkpoint();
            int[] nextSequences = new int[size.lists()];
            Arrays.fill(nextSequences, size.entriesPerList());
            return new Built(directory, killed, store.stats().logBytes(), nextSequences);
        }
    }

    /** In groups, so that few frames of the log are partly filled. */
    private static void fill(ListStore store, Size size) {
        byte[] value = new byte[VALUE_BYTES];
        for (int start = 0; start < size.entries(); start += GROUP) {
            try (ListStore.Group group = store.group()) {
                for (int i = start; i < Math.min(start + GROUP, size.entries()); i++) {
                    store.append(i % size.lists(), value, CALLBACK);
                }
            }
        }
        store.flush();
    }

    /**
     * Makes a forced copy, so that later forces pay for their own writes only. Leaves out temporary files, which the
     * store may be creating at this moment.
     */
    static void forcedCopy(Path source, Path target) throws IOException {
        Directories.delete(target);
        Files.createDirectory(target);
        for (Path file : files(source)) {
            if (!file.toString().endsWith(TEMPORARY)) {
                Path copy = Files.copy(file, target.resolve(file.getFileName()));
                try (FileChannel channel = FileChannel.open(copy, StandardOpenOption.WRITE)) {
                    channel.force(true);
                }
            }
        }
    }

    /** The files of a directory. */
    static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        }
    }

    /** The options for opening the stores to measure. */
    static StoreConfig config(Path directory) {
        return StoreConfig.builder(directory).durability(Durability.PROCESS).build();
    }
}
