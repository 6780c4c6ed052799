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
 * Stores that were built once and are used again: each closed cleanly, and beside it, if asked for, an image of its files as they were
 * while it was open, which is what a killed process leaves. No checkpoint was made before the image, so that opening it
 * replays every append.
 */
final class StoreShelf {
    /** Of a value. Small, so that ten million of them fit the time and the disk. */
    static final int VALUE_BYTES = 24;

    private static final int GROUP = 1_000;
    /** More log than any of the stores writes. */
    private static final long NEVER = 1L << 40;

    private static final String TEMPORARY = FileNames.TEMPORARY_ENDING;

    private final Path work;
    private final boolean images;
    private final Map<Size, Built> stores = new HashMap<>();

    /**
     * An empty shelf.
     *
     * @param images whether stores are to have images
     */
    StoreShelf(Path work, boolean images) {
        this.work = work;
        this.images = images;
    }

    /** Fails loudly: a figure of writes that were refused would say nothing. */
    static final WriteCallback CALLBACK = new WriteCallback() {
        @Override
        public void success(long sequence) {
            // Nobody waits for it.
        }

        @Override
        public void failure(CaravanException problem) {
            throw problem;
        }
    };

    /**
     * A built store.
     *
     * @param killed its image; null when it has none
     * @param logBytes that opening the image replays
     * @param nextSequences of its lists, by id; kept up to date by whoever appends to the store
     */
    @SuppressWarnings("ArrayRecordComponent") // shared on purpose
    record Built(Path directory, @Nullable Path killed, long logBytes, int[] nextSequences) {}

    /** The store of this size, which is built if it is not there. */
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
            // The second of two checkpoints, with that of the close, after which the log is not kept any more.
            store.checkpoint();
            int[] nextSequences = new int[size.lists()];
            Arrays.fill(nextSequences, size.entriesPerList());
            return new Built(directory, killed, store.stats().logBytes(), nextSequences);
        }
    }

    /** In groups, so that the log has few frames that are not full. */
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
     * A copy whose bytes are on the disk, so that whoever forces a file of it later pays for its own writes only.
     * Temporary files, which the store may be making at this moment, mean nothing and are left out.
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

    /** How the stores are opened when they are measured. */
    static StoreConfig config(Path directory) {
        return StoreConfig.builder(directory).durability(Durability.PROCESS).build();
    }
}
