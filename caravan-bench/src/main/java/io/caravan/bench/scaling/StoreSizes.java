package io.caravan.bench.scaling;

import io.caravan.DurableListStore;
import io.caravan.StoreStats;
import io.caravan.VerifyReport;
import io.caravan.bench.Directories;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Runs the same operations in stores of several sizes, in turn. */
final class StoreSizes implements Measure {
    static final String CARAVAN = "Caravan";
    static final String DURABILITY = "PROCESS";
    static final String NO_DURABILITY = "memory only";

    private static final String KILL_NOTE =
            " Open after a kill opens a copy of the files of an open store, made before any checkpoint: it replays"
                    + " every append, makes everything durable and publishes a checkpoint.";
    /** From this many entries on, operations that take seconds are measured in the first runs only. */
    private static final int LARGE_ENTRIES = 10_000_000;

    private static final int THOROUGH_RUNS = 3;
    private static final double MILLIS_PER_SECOND = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double BYTES_PER_MB = 1e6;
    /** Below this size, other objects on the Java heap outweigh the store. */
    private static final int LEAST_ENTRIES_OF_MEMORY = 1_000_000;

    private static final int USUAL_ENTRIES_PER_LIST = 10;

    private final String title;
    private final List<Size> sizes;
    private final SizePictures pictures;
    private final Results results = new Results();
    private final int warmUps;
    private final long durationNanos;
    private @Nullable StoreShelf shelf;

    private StoreSizes(String title, List<Size> sizes, SizePictures pictures, boolean quick) {
        this.title = title;
        this.sizes = sizes;
        this.pictures = pictures;
        warmUps = quick ? 1 : 5;
        durationNanos = Duration.ofMillis(quick ? 5 : 120).toNanos();
    }

    /** Increasing numbers of entries, ten in each list. */
    static StoreSizes byEntries(boolean quick) {
        List<Size> sizes = quick
                ? List.of(new Size(1_000, 100), new Size(10_000, 1_000))
                : List.of(
                        new Size(10_000, 1_000),
                        new Size(100_000, 10_000),
                        new Size(1_000_000, 100_000),
                        new Size(10_000_000, 1_000_000));
        return new StoreSizes("By entries, ten in each list", sizes, SizePictures.BY_ENTRIES, quick);
    }

    /** The same number of entries in increasing numbers of lists. */
    static StoreSizes byLists(boolean quick) {
        int entries = quick ? 1_000 : 1_000_000;
        List<Size> sizes = quick
                ? List.of(new Size(entries, 10), new Size(entries, 1_000))
                : List.of(
                        new Size(entries, 10),
                        new Size(entries, 1_000),
                        new Size(entries, 100_000),
                        new Size(entries, 1_000_000));
        return new StoreSizes("By lists", sizes, SizePictures.BY_LISTS, quick);
    }

    @Override
    public void run(Turn turn) throws IOException {
        StoreShelf stores = shelf(turn);
        for (Size size : turn.inTurn(sizes)) {
            turn.say(size.toString());
            StoreShelf.Built built = stores.get(size);
            results.add(row(size, CARAVAN), measure(turn, size, built));
            results.add(row(size, Charts.MACHINE), machine(turn, size, built));
        }
    }

    /** Created and warmed up in the first run. */
    private StoreShelf shelf(Turn turn) throws IOException {
        if (shelf == null) {
            shelf = new StoreShelf(Files.createTempDirectory(turn.work(), "shelf"), pictures.ofOpening());
            turn.say("warming up");
            Size size = sizes.get(sizes.size() > 2 ? 1 : 0);
            for (int i = 0; i < warmUps; i++) {
                measure(turn, size, shelf.get(size));
            }
        }
        return shelf;
    }

    static Row row(Size size, String system) {
        return new Row(size.toString(), system, system.equals(CARAVAN) ? DURABILITY : NO_DURABILITY);
    }

    private Measurement measure(Turn turn, Size size, StoreShelf.Built built) throws IOException {
        Measurement measurement = new Measurement();
        boolean thorough = turn.number() <= THOROUGH_RUNS || size.entries() < LARGE_ENTRIES;
        if (thorough) {
            openKilled(turn, built, measurement);
        }
        long heapBefore = usedHeap(size);
        long start = System.nanoTime();
        try (DurableListStore store = DurableListStore.open(StoreShelf.config(built.directory()))) {
            measurement.with(SizeFigures.OPEN_MILLIS, millisSince(start));
            addMemory(size, usedHeap(size) - heapBefore, measurement);
            operate(turn, store, size, built, measurement);
            start = System.nanoTime();
            store.checkpoint();
            measurement.with(SizeFigures.CHECKPOINT_MILLIS, millisSince(start));
            addLock(store.stats().lockNanos(), measurement);
        }
        if (thorough) {
            verify(size, built, measurement);
        }
        return measurement;
    }

    private static void addLock(StoreStats.Distribution holds, Measurement measurement) {
        measurement
                .with(SizeFigures.LOCK_P999_MICROS, holds.p999() / NANOS_PER_MICRO)
                .with(SizeFigures.LOCK_MAX_MICROS, holds.max() / NANOS_PER_MICRO);
    }

    private static void verify(Size size, StoreShelf.Built built, Measurement measurement) throws IOException {
        long start = System.nanoTime();
        VerifyReport report = DurableListStore.verify(built.directory(), VerifyReport.Progress.NONE);
        measurement.with(SizeFigures.VERIFY_MILLIS, millisSince(start));
        if (!report.clean() || report.entries() != size.entries()) {
            throw new IOException("the store of " + size + " is damaged: " + report);
        }
    }

    /** Opens a copy of the image of a killed process, if there is one. */
    private static void openKilled(Turn turn, StoreShelf.Built built, Measurement measurement) throws IOException {
        if (built.killed() == null) {
            return;
        }
        Path copy = turn.work().resolve("killed-copy");
        StoreShelf.forcedCopy(built.killed(), copy);
        long start = System.nanoTime();
        DurableListStore store = DurableListStore.open(StoreShelf.config(copy));
        double millis = millisSince(start);
        store.close();
        Directories.delete(copy);
        measurement
                .with(SizeFigures.OPEN_KILLED_MILLIS, millis)
                .with(SizeFigures.REPLAY_MB_PER_SECOND, megabytesPerSecond(built.logBytes(), millis));
    }

    private void operate(
            Turn turn, DurableListStore store, Size size, StoreShelf.Built built, Measurement measurement) {
        StoreOperations operations =
                new StoreOperations(store, size, built.nextSequences(), durationNanos, turn.number());
        measurement.with(SizeFigures.APPEND_NANOS, operations.append());
        if (size.entriesPerList() == USUAL_ENTRIES_PER_LIST) {
            measurement.with(SizeFigures.GET_NANOS, operations.get());
        }
        measurement
                .with(SizeFigures.GET_LAST_NANOS, operations.getLast())
                .with(SizeFigures.GET_MISSING_NANOS, operations.getMissing());
    }

    private Measurement machine(Turn turn, Size size, StoreShelf.Built built) throws IOException {
        Measurement measurement = new Measurement()
                .with(
                        SizeFigures.RANDOM_READ_NANOS,
                        new RandomReads(size.aimedBytes(), turn.number()).run(durationNanos));
        if (built.killed() != null) {
            double rate = LogReads.megabytesPerSecond(built.killed(), built.logBytes());
            measurement
                    .with(SizeFigures.LOG_READ_MILLIS, built.logBytes() / BYTES_PER_MB / rate * MILLIS_PER_SECOND)
                    .with(SizeFigures.LOG_READ_MB_PER_SECOND, rate);
        }
        return measurement;
    }

    private static void addMemory(Size size, long bytes, Measurement measurement) {
        if (size.entries() >= LEAST_ENTRIES_OF_MEMORY) {
            measurement
                    .with(SizeFigures.MEMORY_MB, bytes / BYTES_PER_MB)
                    .with(SizeFigures.MEMORY_RATIO, (double) bytes / size.aimedBytes());
        }
    }

    /** Bytes of live objects after a full collection; skips the collection for a store whose memory is not reported. */
    private static long usedHeap(Size size) {
        if (size.entries() < LEAST_ENTRIES_OF_MEMORY) {
            return 0;
        }
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static double millisSince(long startNanos) {
        return (System.nanoTime() - startNanos) / NANOS_PER_MILLI;
    }

    private static double megabytesPerSecond(long bytes, double millis) {
        return bytes / BYTES_PER_MB / (millis / MILLIS_PER_SECOND);
    }

    @Override
    public Table table() {
        return new Table(
                title,
                "Values of " + StoreShelf.VALUE_BYTES
                        + " bytes, small so that ten million fit. One thread, lists drawn at random; each operation for "
                        + Duration.ofNanos(durationNanos).toMillis()
                        + " ms. The thread does not wait for appends: rounds of "
                        + String.format(Locale.ROOT, "%,d", StoreOperations.APPENDS)
                        + " and a flush, all of it timed; then as many entries are trimmed, untimed, so that the"
                        + " store keeps its size; no checkpoint occurs meanwhile. Each store is built once, and"
                        + " opened, closed and verified in every run, with its files in the page cache. Memory is"
                        + " what the open store adds to the Java heap after a full collection; two log buffers of 4"
                        + " MiB come on top. The machine's random reads are dependent reads of one cache line each,"
                        + " in a buffer of 12 bytes an entry and 100 bytes a list. Holds of the store's one lock are those of the"
                        + " operations and of a checkpoint: every slice of its copy of the index, one in 64 of the"
                        + " others; they include what the operating system took from a thread meanwhile."
                        + (pictures.ofOpening() ? KILL_NOTE : ""),
                results);
    }

    @Override
    public List<Picture> pictures() {
        return pictures.of(results, sizes);
    }
}
