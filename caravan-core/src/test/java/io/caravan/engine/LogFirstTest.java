package io.caravan.engine;

import static io.caravan.engine.FaultyStore.HEAP;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.nth;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.StoreConfig;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks that a checkpoint waits for the flush in progress after each batch of values that it moves to the heap. */
@LongTimeout
class LogFirstTest {
    /** Matches the fsync with which the checkpoint ends each batch: that of the only heap segment. */
    private static final Predicate<Call> BATCHES = on(Kind.FORCE, HEAP);

    /** A number of values of {@link #LENGTH} bytes that is large enough to take more than one batch. */
    private static final int COUNT = 400;

    private static final int LENGTH = 3000;

    private static StoreConfig.Builder oneHeapSegment() {
        return FaultyStore.small().heapSegmentBytes(8 << 20);
    }

    @Test
    void checkpointWaitsForFlushBetweenBatches() throws Exception {
        try (FaultyStore store = FaultyStore.open(oneHeapSegment().build())) {
            store.appendMany(1, COUNT, LENGTH);
            Hold firstBatch = store.faults.hold(nth(1, on(Kind.FORCE, HEAP)));
            FutureTask<Void> checkpoint = checkpoint(store);
            firstBatch.awaitReached();
            store.faults.clearCalls();
            Hold flush = store.faults.hold(nth(1, on(Kind.FORCE, LOG)));
            CompletableFuture<?> append = store.engine.append(2, bytes(10, 1));
            flush.awaitReached();
            firstBatch.release();
            Eventually.await("the checkpoint waits for the log", LogFirstTest::waits);
            assertThat(store.faults.calls(BATCHES)).isEmpty();
            flush.release();
            await(append);
            checkpoint.get();
            assertThat(store.faults.calls(BATCHES)).isNotEmpty();
        }
    }

    /** Checks that a checkpoint does not wait if the log would then outgrow the space that the checkpoint frees. */
    @Test
    void checkpointDoesNotWaitWhenLogIsFarAhead() throws Exception {
        long floorBytes = 4096;
        StoreConfig config = oneHeapSegment().checkpointFloorBytes(floorBytes).build();
        try (FaultyStore store = FaultyStore.open(config)) {
            // The store makes checkpoints by itself. While one checkpoint is held, the test writes enough values for
            // two batches.
            Hold first = store.faults.hold(nth(1, BATCHES));
            store.appendMany(1, 40, LENGTH);
            first.awaitReached();
            store.appendMany(1, COUNT, LENGTH);
            Hold firstOfTwo = store.faults.hold(nth(1, BATCHES));
            first.release();
            firstOfTwo.awaitReached();
            store.appendMany(1, COUNT, LENGTH);
            store.faults.clearCalls();
            Hold flush = store.faults.hold(nth(1, on(Kind.FORCE, LOG)));
            CompletableFuture<?> append = store.engine.append(2, bytes(10, 1));
            flush.awaitReached();
            firstOfTwo.release();
            Eventually.await(
                    "batches are forced while the flush is held",
                    () -> !store.faults.calls(BATCHES).isEmpty());
            flush.release();
            await(append);
        }
    }

    /**
     * Checks that batches grow while the log is idle and an fsync of the heap takes little time. A write, or a slow
     * disk, keeps them small. Small batches take about 1 MiB; the survivors take 6 MiB.
     */
    @ParameterizedTest
    @CsvSource({"false, 0, 3", "true, 0, 4", "false, 3, 6"})
    void batchesGrowWhileLogIsIdle(boolean writes, int fsyncMillis, int batches) throws Exception {
        AtomicLong nanos = new AtomicLong();
        LongSupplier clock = () -> nanos.getAndAdd(TimeUnit.MILLISECONDS.toNanos(fsyncMillis));
        try (FaultyStore store = FaultyStore.open(oneHeapSegment().build(), new MemoryStorage(), clock)) {
            store.appendMany(1, 2050, LENGTH);
            // The committed position advances after the acknowledgments. A read waits for it.
            assertThat(store.engine.info(1)).isNotNull();
            store.faults.clearCalls();
            Hold firstBatch = store.faults.hold(nth(1, BATCHES));
            FutureTask<Void> checkpoint = checkpoint(store);
            firstBatch.awaitReached();
            if (writes) {
                await(store.engine.append(2, bytes(10, 1)));
            }
            firstBatch.release();
            checkpoint.get();
            assertThat(store.faults.calls(BATCHES)).hasSize(batches);
        }
    }

    private static FutureTask<Void> checkpoint(FaultyStore store) {
        FutureTask<Void> checkpoint = new FutureTask<>(store.engine::checkpoint, null);
        new Thread(checkpoint).start();
        return checkpoint;
    }

    private static boolean waits() {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Arrays::stream)
                .anyMatch(frame -> frame.getMethodName().equals("yieldToLog"));
    }
}
