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
import io.caravan.testing.Patient;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** A checkpoint that forces the heap waits after each portion for the flush under way. */
@Patient
class LogFirstTest {
    private static final Predicate<Call> PORTIONS = on(Kind.MAP_FORCE, HEAP);

    @Test
    void noPortionOfTheHeapIsForcedWhileAFlushThatBeganMeanwhileIsUnderWay() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            store.appendMany(1, 5, 3000);
            Hold firstPortion = store.faults.hold(nth(1, on(Kind.MAP_FORCE, HEAP)));
            FutureTask<Void> checkpoint = checkpoint(store);
            firstPortion.awaitReached();
            store.faults.forgetCalls();
            Hold flush = store.faults.hold(nth(1, on(Kind.FORCE, LOG)));
            CompletableFuture<?> append = store.engine.append(2, bytes(10, 1));
            flush.awaitReached();
            firstPortion.release();
            Eventually.await("the checkpoint waits for the log", LogFirstTest::waits);
            assertThat(store.faults.calls(PORTIONS)).isEmpty();
            flush.release();
            await(append);
            checkpoint.get();
            assertThat(store.faults.calls(PORTIONS)).isNotEmpty();
        }
    }

    /** Or the log would outgrow what the checkpoint is to make unnecessary. */
    @Test
    void theHeapCatchesUpOnceTheLogIsAheadByMoreThanABurst() throws Exception {
        long floorBytes = 4096;
        StoreConfig config =
                FaultyStore.small().checkpointFloorBytes(floorBytes).build();
        try (FaultyStore store = FaultyStore.open(config)) {
            store.appendMany(1, 5, 3000);
            Hold firstPortion = store.faults.hold(nth(1, on(Kind.MAP_FORCE, HEAP)));
            FutureTask<Void> checkpoint = checkpoint(store);
            firstPortion.awaitReached();
            store.appendMany(1, 12, 3000);
            store.faults.forgetCalls();
            Hold flush = store.faults.hold(nth(1, on(Kind.FORCE, LOG)));
            CompletableFuture<?> append = store.engine.append(2, bytes(10, 1));
            flush.awaitReached();
            firstPortion.release();
            Eventually.await(
                    "portions are forced while the flush is held",
                    () -> !store.faults.calls(PORTIONS).isEmpty());
            flush.release();
            await(append);
            checkpoint.get();
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
                .anyMatch(frame -> frame.getClassName().equals(LogFirst.class.getName()));
    }
}
