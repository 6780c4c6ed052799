package io.caravan.engine;

import static io.caravan.testing.StoreCalls.bytes;

import io.caravan.StoreConfig;
import io.caravan.inspect.Verifier;
import io.caravan.testing.Crew;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.EventConstants;

/** A small open engine, which reaches every limit quickly, on an in-memory disk that fails on request. */
final class FaultyStore implements AutoCloseable {
    static final int MAX_VALUE_BYTES = 4096;
    static final int LOG_SEGMENT_BYTES = 16 * 1024;
    static final int HEAP_SEGMENT_BYTES = 16 * 1024;

    /** Matches the names of log segments in use. The patterns below match heap segments and checkpoints. */
    static final String LOG = "log-[0-9a-f]*\\.wal";

    static final String HEAP = "heap-[0-9a-f]*\\.dat";
    static final String CHECKPOINT = "checkpoint-[0-9a-f]*\\.ckp";
    static final String UNFINISHED_CHECKPOINT = CHECKPOINT + "\\.tmp";

    private static final int HASTE = 50;

    final StoreConfig config;
    final MemoryStorage disk;
    final FaultStorage faults;
    final Engine engine;
    private final WatchedScheduler threads;

    private FaultyStore(StoreConfig config, MemoryStorage disk, LongSupplier clock, WatchedScheduler threads) {
        this.config = config;
        this.disk = disk;
        this.threads = threads;
        this.faults = new FaultStorage(disk);
        try {
            this.engine = Engine.open(config, faults, clock, threads);
        } catch (IOException rejected) {
            throw new UncheckedIOException(rejected);
        }
    }

    /** A failure that no logger can log. */
    static final class Unloggable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public void printStackTrace(PrintStream log) {
            throw this;
        }
    }

    /** Runs the work while a class of the engine logs its warnings and errors, as it does outside of these tests. */
    static void whileLogging(Class<?> logging, Crew.Work work) throws Exception {
        Logger log = LoggerFactory.getLogger(logging);
        Field level = log.getClass().getDeclaredField("currentLogLevel");
        level.setAccessible(true);
        int before = level.getInt(log);
        level.setInt(log, EventConstants.WARN_INT);
        try {
            work.run();
        } finally {
            level.setInt(log, before);
        }
    }

    /** Returns the config of a small store that makes checkpoints only when a test requests them. */
    static StoreConfig.Builder small() {
        return StoreConfig.builder(Path.of("memory"))
                .maxValueBytes(MAX_VALUE_BYTES)
                .logBufferBytes(8 * 1024)
                .logSegmentBytes(LOG_SEGMENT_BYTES)
                .heapSegmentBytes(HEAP_SEGMENT_BYTES)
                .checkpointFloorBytes(1L << 40);
    }

    /** Returns the state of a newly created store, without the store's threads and their components. */
    static StoreState stateOf(StoreConfig config, LongSupplier clock, Runnable wakeFlusher) throws IOException {
        MemoryStorage storage = new MemoryStorage();
        NewStore.createEmpty(storage, config, 1);
        StoreState state = new StoreState(config, storage, new Recovery(storage).recover(), clock, Scheduler.THREADS);
        state.wakes = new StoreState.Wakes(wakeFlusher, () -> {}, () -> {}, () -> {});
        return state;
    }

    static FaultyStore open() {
        return open(small().build());
    }

    static FaultyStore open(StoreConfig config) {
        return open(config, new MemoryStorage());
    }

    static FaultyStore open(StoreConfig config, MemoryStorage disk) {
        WatchedScheduler threads = new WatchedScheduler(HASTE);
        return new FaultyStore(config, disk, threads::hastyNanos, threads);
    }

    static FaultyStore open(StoreConfig config, MemoryStorage disk, LongSupplier clock) {
        return new FaultyStore(config, disk, clock, new WatchedScheduler());
    }

    /** Opens the store that a power cut at this moment would leave. This store continues independently. */
    FaultyStore afterPowerCut() {
        return open(config, disk.powerCut());
    }

    /** Returns a list's entries, as text, in the store that a power cut now would leave, and verifies that store. */
    List<String> textsAfterPowerCut(long id) {
        try (FaultyStore cut = afterPowerCut()) {
            List<String> texts = StoreCalls.texts(cut.engine, id);
            cut.closeAndVerify();
            return texts;
        }
    }

    /** Opens the store that a kill of the process at this moment would leave. */
    FaultyStore afterKill() {
        return open(config, disk.processKill());
    }

    /**
     * Waits until the provisioner has no segments left to create, recycle, or delete, so that it does not disturb a
     * test.
     */
    void awaitProvisioned() {
        threads.awaitRest("caravan-provisioner");
    }

    /** Waits until the flusher has no work. */
    void awaitIdleFlusher() {
        threads.awaitRest("caravan-flusher");
    }

    /** Wakes the checkpointer, and waits until it is idle or waiting. */
    void awaitIdleCheckpointer() {
        engine.onCheckpointer(() -> {});
        threads.awaitRest("caravan-checkpointer");
    }

    /** Appends this many values of this length to one list, all in flight together, and waits for them. */
    void appendMany(long id, int count, int length) {
        CompletableFuture<?>[] appends = new CompletableFuture<?>[count];
        for (int i = 0; i < count; i++) {
            appends[i] = engine.append(id, bytes(length, i));
        }
        CompletableFuture.allOf(appends).join();
    }

    /** Runs the work while a new checkpoint is held at a matching call. Returns when the checkpoint has ended. */
    void duringCheckpoint(Predicate<Call> heldCalls, Crew.Work work) throws Exception {
        FutureTask<Void> checkpoint = new FutureTask<>(engine::checkpoint, null);
        try (Hold hold = faults.hold(heldCalls)) {
            new Thread(checkpoint, "checkpoint").start();
            hold.awaitReached();
            work.run();
        }
        checkpoint.get();
    }

    /** Returns the names of the existing files that match, sorted. */
    List<String> files(String pattern) {
        return files(disk, pattern);
    }

    static List<String> files(MemoryStorage disk, String pattern) {
        return disk.list().stream()
                .filter(name -> name.matches(pattern))
                .sorted()
                .toList();
    }

    /** Returns the contents of all heap files, as they are mapped. */
    String heapBytes() {
        return allBytes(HEAP);
    }

    /** Returns the bytes of all matching files as text, one character per byte, so that a test can search them. */
    String allBytes(String pattern) {
        StringBuilder all = new StringBuilder();
        for (String name : files(pattern)) {
            all.append(latin1(disk.bytes(name)));
        }
        return all.toString();
    }

    static String latin1(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.capacity()];
        bytes.get(0, copy);
        return new String(copy, java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    /** Returns the place of a value in the heap files. Its entry starts a few bytes before it. */
    Place find(byte[] value) {
        return find(HEAP, value);
    }

    /** Returns the place of a value in the files whose names match the pattern. */
    Place find(String pattern, byte[] value) {
        String text = latin1(ByteBuffer.wrap(value));
        List<Place> places = files(pattern).stream()
                .flatMap(name -> {
                    int at = latin1(disk.bytes(name)).indexOf(text);
                    return at < 0 ? Stream.empty() : Stream.of(new Place(name, at));
                })
                .toList();
        if (places.size() != 1) {
            throw new AssertionError("expected the value in one file, found it in " + places);
        }
        return places.get(0);
    }

    /** A position in a file. */
    record Place(String file, int offset) {}

    /** Closes the store and checks that its files are intact. */
    void closeAndVerify() {
        engine.close();
        try {
            List<?> problems = Verifier.verify(disk, (step, done, total) -> {}).faults();
            if (!problems.isEmpty()) {
                throw new AssertionError("faults: " + problems);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() {
        faults.heal();
        engine.close();
    }
}
