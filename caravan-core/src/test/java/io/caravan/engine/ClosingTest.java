package io.caravan.engine;

import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.each;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the work that a close completes, the work that it waits for, and calls that are in progress when it ends. */
@LongTimeout
class ClosingTest {
    private final AtomicLong nanos = new AtomicLong();

    @Test
    void closeOfFailedStoreWaitsForReads() {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first", "second");
            store.faults.fail(on(Kind.WRITE, LOG));
            assertThat(catchThrowable(() -> append(store.engine, 2, "lost"))).isInstanceOf(StoreFailedException.class);
            Thread closer = new Thread(store.engine::close, "closer");
            List<Long> read = new ArrayList<>();
            store.engine.get(1, each((sequence, value) -> {
                read.add(sequence);
                if (sequence == 0) {
                    closeUntilItWaitsForReaders(closer);
                }
            }));
            assertThat(read).containsExactly(0L, 1L);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void readThatOutlivesCloseIsRejected(boolean inLog) {
        FaultyStore store = open();
        append(store.engine, 1, "first", "second");
        if (inLog) {
            store.faults.fail(on(Kind.WRITE, FaultyStore.HEAP));
        } else {
            store.engine.checkpoint();
        }
        Thread closer = new Thread(store.engine::close, "closer");
        Throwable rejection = catchThrowable(() -> store.engine.get(1, each((sequence, value) -> {
            closeUntilItWaitsForReaders(closer);
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
            store.engine.state.locked(store.engine.state.changed::signalAll);
            joined(closer);
            if (!inLog) {
                reusePlaceOf(store, "second");
            }
        })));
        assertThat(rejection).isInstanceOf(StoreClosedException.class);
    }

    @Test
    void secondCloseWaitsForFutures() {
        FaultyStore store = open();
        CountDownLatch stageMayEnd = new CountDownLatch(1);
        CompletableFuture<Void> stage =
                appendThenRun(store, () -> StoreCalls.await(stageMayEnd, "the stage was not released"));
        Thread first = new Thread(store.engine::close, "first close");
        first.start();
        awaitTimedWaitingOrEnded(first);
        FutureTask<Boolean> stageEnded = new FutureTask<>(() -> {
            store.engine.close();
            return stage.isDone();
        });
        Thread second = new Thread(stageEnded, "second close");
        second.start();
        awaitTimedWaitingOrEnded(second);
        stageMayEnd.countDown();
        assertThat(await(stageEnded)).isTrue();
        await(stage);
    }

    /** Checks that a close in a dependent stage does not wait for the first close, which waits for the stage. */
    @Test
    void stageCanCloseWhileAnotherThreadCloses() {
        FaultyStore store = open();
        CompletableFuture<Void> stage = appendThenRun(store, () -> {
            Eventually.runUntilWaiting(store.engine::close);
            store.engine.close();
        });
        await(stage);
        store.engine.close();
    }

    /** Appends a value, and makes the store thread that completes the append run the stage. */
    private static CompletableFuture<Void> appendThenRun(FaultyStore store, Runnable stage) {
        try (Hold ignored = store.faults.hold(on(Kind.FORCE, LOG))) {
            return store.engine.append(1, bytes("value")).thenRun(stage);
        }
    }

    private static void reusePlaceOf(FaultyStore store, String value) {
        FaultyStore.Place place = store.find(bytes(value));
        store.disk.invert(place.file(), place.offset());
    }

    /** Opens a store whose clock advances only when a test advances it. */
    private FaultyStore open() {
        return FaultyStore.open(FaultyStore.small().build(), new MemoryStorage(), nanos::get);
    }

    /** Starts the close. Returns when the close is waiting for readers with a timeout, or has ended. */
    private static void closeUntilItWaitsForReaders(Thread closer) {
        closer.start();
        awaitTimedWaitingOrEnded(closer);
    }

    /** Waits until the close has ended or is in a timed wait, which a close uses only for readers and futures. */
    private static void awaitTimedWaitingOrEnded(Thread closer) {
        Eventually.await(closer + " waits with a timeout or ends", () -> switch (closer.getState()) {
            case TIMED_WAITING, TERMINATED -> true;
            default -> false;
        });
    }

    private static void joined(Thread thread) {
        Eventually.await(thread + " ends", () -> !thread.isAlive());
    }
}
