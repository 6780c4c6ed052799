package io.caravan.testing.simulator;

import io.caravan.Durability;
import io.caravan.FlushPolicy;
import io.caravan.StoreConfig;
import io.caravan.engine.Engine;
import io.caravan.heap.HeapGeometry;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.ModelLists;
import io.caravan.testing.RandomOperations;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;

/** Simulates several successive runs of one store, all determined by one seed. */
final class Simulation {
    private static final int KIB = 1024;
    private static final int RUNS = 6;
    private static final int MAX_VALUE_BYTES = 3 * KIB;

    static final RandomOperations.Shape SHAPE = new RandomOperations.Shape(12, MAX_VALUE_BYTES, 4 * KIB);

    private final boolean clientsFlush;
    private final boolean mixesLevels;
    private final boolean interleaves;
    private final SplittableRandom random;
    private final Story story;
    private final StoreConfig config;
    private SimulationFailure failure;
    private long cuts;

    Simulation(long seed, boolean recorded) {
        // Clients do not flush in all simulations, because then few writes would share a commit.
        clientsFlush = seed % 4 == 0;
        mixesLevels = seed % 3 == 1;
        // Not all even seeds interleave, so that clients also flush with simple threads.
        interleaves = seed % 2 == 0 && seed % 8 != 0;
        random = new SplittableRandom(seed);
        story = new Story(recorded);
        config = StoreConfig.builder(Path.of("simulated"))
                .maxValueBytes(MAX_VALUE_BYTES)
                .logBufferBytes(8 * KIB)
                .logSegmentBytes(16 * KIB)
                .heapSegmentBytes(16 * KIB)
                .maxHeapBytes(6 * 16 * KIB)
                .checkpointFloorBytes((16 + random.nextInt(112)) * KIB)
                // With so small a heap, checkpoints would otherwise be rare.
                .checkpointFraction(0.1)
                .flushPolicy(
                        random.nextInt(4) == 0
                                ? FlushPolicy.fixedDelay(Duration.ofMillis(25))
                                : FlushPolicy.immediate())
                .durability(random.nextInt(5) == 0 ? Durability.PROCESS : Durability.SYNC)
                .build();
    }

    /** Performs all runs, or stops early after {@code enoughCuts} cuts. Throws the first failure. */
    void run(long enoughCuts) {
        CrashStorage disk = new CrashStorage(random.nextLong());
        History history = new History(new ModelLists(MAX_VALUE_BYTES), config.durability());
        boolean failed = false;
        boolean powerLost = false;
        for (int i = 0; i < RUNS && cuts < enoughCuts; i++) {
            StoreRun storeRun = new StoreRun(this, disk, history, failed, powerLost);
            storeRun.live();
            checkNoFailure();
            disk = storeRun.left();
            history = storeRun.history();
            failed = storeRun.failed();
            powerLost = storeRun.powerLost();
        }
    }

    /** Whether a cut after this call can have a different effect than a cut before it. */
    static boolean changesDisk(CrashStorage.Call call) {
        return switch (call.kind()) {
            case OPEN, READ, MAP, CLOSE -> false;
            default -> true;
        };
    }

    /**
     * Whether the call fails on a full disk for lack of space. A full disk may still have space for checkpoints, but
     * has none for segments.
     */
    static boolean lacksSpace(CrashStorage.Call call, boolean roomForCheckpoints) {
        boolean makesSegment = call.kind() == Kind.CREATE && call.bytes() > 0;
        return call.grows() && (makesSegment || !roomForCheckpoints);
    }

    SplittableRandom random() {
        return random;
    }

    Story story() {
        return story;
    }

    StoreConfig config() {
        return config;
    }

    /** Whether flushed writes survive even a power cut, and not only a process kill. */
    boolean survivesPower() {
        return config.durability() == Durability.SYNC;
    }

    /** Whether the simulation cuts the power, in addition to killing the process. */
    boolean mayLosePower() {
        return survivesPower() || mixesLevels;
    }

    /** Whether clients use weaker durability levels than the store. */
    boolean mixesLevels() {
        return mixesLevels;
    }

    /** Whether clients request that some of their writes be flushed. */
    boolean clientsFlush() {
        return clientsFlush;
    }

    /** Whether threads also switch at locks and hand-overs, and event loops write in addition to the client. */
    boolean interleaves() {
        return interleaves;
    }

    /** Returns the maximum number of bytes that entries can take in the heap. */
    long heapBytes() {
        HeapGeometry geometry = new HeapGeometry(config.heapSegmentBytes());
        return config.maxHeapBytes() / geometry.segmentBytes() * geometry.usableBytes();
    }

    void countCut() {
        cuts++;
    }

    /** Returns the number of cuts so far. */
    long cuts() {
        return cuts;
    }

    /** Records a failure that was found where no caller would catch the exception. */
    void failed(SimulationFailure found) {
        if (failure == null) {
            failure = found;
        }
    }

    void checkNoFailure() {
        if (failure != null) {
            throw failure;
        }
    }

    /** Opens the store without injecting faults. */
    Engine open(CrashStorage storage) throws IOException {
        SimulatedClock clock = new SimulatedClock();
        return Engine.open(config, storage, clock, new SimulatedScheduler(random, clock));
    }
}
