package io.caravan.engine;

import static io.caravan.engine.FaultyStore.HEAP;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.nth;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.testing.Completions;
import io.caravan.testing.Completions.Completion;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Invariant 9: a failed write or fsync of the log is final. Every caller is notified once, and no fsync is retried. */
@LongTimeout
class Invariant09FailedFsyncIsFinalTest {
    /** Matches writes or fsyncs of frames. Segment headers are written and fsynced before the segment is used. */
    private static Predicate<Call> frames(Kind kind) {
        return on(kind, LOG).and(call -> kind != Kind.WRITE || call.position() > 0);
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"WRITE", "FORCE"})
    void nthFailureFailsAllLaterOperations(Kind kind) {
        for (int n = 1; n <= 8; n++) {
            try (FaultyStore store = FaultyStore.open()) {
                store.awaitProvisioned();
                store.faults.clearCalls();
                store.faults.fail(nth(n, frames(kind)));
                for (int i = 1; i < n; i++) {
                    assertThat(append(store.engine, 1, "value " + i)).isEqualTo(i - 1);
                }
                Completions completions = new Completions();
                store.engine.append(1, bytes("fails"), completions.callback(1));
                assertFailed(completions.await(1).get(0), kind);
                assertEverythingIsRejected(store, kind);
                store.faults.heal();
                assertEverythingIsRejected(store, kind);
                store.engine.close();

                assertThat(store.faults.calls(frames(Kind.FORCE)))
                        .as("forces of the log, the failed one included")
                        .hasSize(kind == Kind.FORCE ? n : n - 1);
                assertThat(completions.all()).hasSize(1);
                assertFindsWhatWasAcknowledged(store.config, store.disk.powerCut(), n - 1);
                assertFindsWhatWasAcknowledged(store.config, store.disk.processKill(), n - 1);
            }
        }
    }

    /** Checks that a logger that throws keeps no call, write, or action waiting, and no file open. */
    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"WRITE", "FORCE"})
    void failureThatCannotBeLoggedReachesEveryWaiter(Kind kind) throws Exception {
        FaultyStore.whileLogging(Flusher.class, () -> assertReachesEveryWaiter(kind));
    }

    private static void assertReachesEveryWaiter(Kind kind) {
        try (FaultyStore store = FaultyStore.open()) {
            store.awaitProvisioned();
            Completions completions = new Completions();
            FutureTask<Void> waiter = new FutureTask<>(() -> store.engine.state.forced.await(Long.MAX_VALUE), null);
            new Thread(waiter).start();
            try (Hold write = store.faults.hold(frames(kind))) {
                store.faults.fail(frames(kind).and(call -> {
                    throw new FaultyStore.Unloggable();
                }));
                store.engine.append(1, bytes("fails"), completions.callback(1));
                write.awaitReached();
                store.engine.append(1, bytes("fails too"), completions.callback(2));
            }
            assertThat(completions.await(2))
                    .allSatisfy(completion -> assertThat(completion.problem())
                            .isInstanceOf(StoreFailedException.class)
                            .hasRootCauseInstanceOf(FaultyStore.Unloggable.class));
            assertThat(catchThrowable(waiter::get)).hasCauseInstanceOf(StoreFailedException.class);
            store.engine.close();
            assertThat(store.faults.mapped()).isZero();
        }
    }

    private static void assertFailed(Completion completion, Kind kind) {
        assertThat(completion.problem()).isInstanceOf(StoreFailedException.class);
        assertThat(completion.problem().getCause())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("made to fail: " + kind);
    }

    private static void assertEverythingIsRejected(FaultyStore store, Kind kind) {
        Completions completions = new Completions();
        List<Runnable> writes = List.of(
                () -> store.engine.append(1, bytes("x"), completions.callback(1)),
                () -> store.engine.write(WriteBatch.create().append(1, bytes("x")), completions.callback(2)),
                () -> store.engine.write(WriteBatch.create(), completions.callback(3)),
                () -> store.engine.trim(1, 1, completions.callback(4)),
                () -> store.engine.trimTo(1, 1, completions.callback(5)),
                () -> store.engine.delete(1, completions.callback(6)),
                store.engine::flush,
                store.engine::checkpoint);
        for (Runnable write : writes) {
            assertThatExceptionOfType(StoreFailedException.class)
                    .isThrownBy(write::run)
                    .havingCause()
                    .withMessageContaining("made to fail: " + kind);
        }
        assertThat(completions.all()).isEmpty();
    }

    private static void assertFindsWhatWasAcknowledged(
            io.caravan.StoreConfig config, MemoryStorage disk, int acknowledged) {
        try (FaultyStore reopened = FaultyStore.open(config, disk)) {
            List<String> found = texts(reopened.engine, 1);
            assertThat(found).hasSizeBetween(acknowledged, acknowledged + 1);
            for (int i = 0; i < acknowledged; i++) {
                assertThat(found.get(i)).isEqualTo(i + ":value " + (i + 1));
            }
            assertThat(append(reopened.engine, 1, "goes on")).isEqualTo(found.size());
            reopened.closeAndVerify();
        }
    }

    /** A scheduler that, while a test requests it, makes the flusher throw an exception after each step. */
    private static final class BrokenFlusher extends WatchedScheduler {
        private final AtomicInteger steps = new AtomicInteger();
        private final AtomicBoolean breaks = new AtomicBoolean();

        @Override
        public Worker worker(String name, Worker.Step step, Consumer<Throwable> crashed) {
            return super.worker(
                    name,
                    () -> {
                        long waitNanos = step.run();
                        if (name.startsWith("caravan-flusher") && breaks.get()) {
                            throw new IllegalStateException("step " + steps.incrementAndGet() + ", broken on purpose");
                        }
                        return waitNanos;
                    },
                    crashed);
        }
    }

    @Test
    void flusherOfFailedStoreRestsEvenIfItThrows() throws IOException {
        BrokenFlusher scheduler = new BrokenFlusher();
        Engine engine = Engine.open(FaultyStore.small().build(), new MemoryStorage(), System::nanoTime, scheduler);
        scheduler.awaitRest("caravan-flusher");
        scheduler.breaks.set(true);
        // Wakes the flusher. If another event has already woken it, the store has failed and rejects the append.
        Throwable rejected = catchThrowable(() -> engine.append(1, bytes("x"), NO_CALLBACK));
        assertThat(rejected == null || rejected instanceof StoreFailedException).isTrue();
        Eventually.await("the store has failed", () -> engine.stats().failures() == 1);
        Eventually.await("the failure was reported", () -> scheduler.steps.get() >= 2);
        scheduler.awaitRest("caravan-flusher");
        assertThat(scheduler.steps.get()).isLessThan(10);
        engine.close();
    }

    @Test
    void allCallbacksReceiveFailureEvenIfOneThrows() {
        try (FaultyStore store = FaultyStore.open()) {
            Completions completions = new Completions();
            store.faults.fail(on(Kind.FORCE, LOG));
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("in flight"), completions.callback(0));
                write.awaitReached();
                for (Error thrown : List.of(new InternalError("on purpose"), new AssertionError("on purpose"))) {
                    store.engine.append(1, bytes("next"), new WriteCallback() {
                        @Override
                        public void success(long sequence) {}

                        @Override
                        public void failure(CaravanException problem) {
                            throw thrown;
                        }
                    });
                }
                store.engine.append(1, bytes("last"), completions.callback(1));
            }
            assertThat(completions.await(2)).allMatch(completion -> completion.problem() != null);
        }
    }

    @Test
    void allWaitersReceiveFailureOnceAndInOrder() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "durable");
            Completions completions = new Completions();
            store.faults.fail(on(Kind.FORCE, LOG));
            FutureTask<Throwable> blockedWriter = new FutureTask<>(
                    () -> catchThrowable(() -> store.engine.append(2, bytes(4000, 1), completions.callback(99))));
            FutureTask<Throwable> blockedReader = new FutureTask<>(() -> catchThrowable(() -> texts(store.engine, 1)));
            FutureTask<Throwable> flushing = new FutureTask<>(() -> catchThrowable(store.engine::flush));
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("in flight"), completions.callback(0));
                write.awaitReached();
                for (int i = 1; i <= 3; i++) {
                    store.engine.append(1, bytes(300, i), completions.callback(i));
                }
                store.engine.trim(1, 1, completions.callback(4));
                for (FutureTask<?> task : List.of(blockedReader, flushing, blockedWriter)) {
                    Eventually.runUntilWaiting(task);
                    assertThat(task).isNotDone();
                }
            }
            assertThat(completions.await(5).stream().map(Completion::tag)).containsExactly(0L, 1L, 2L, 3L, 4L);
            assertThat(blockedWriter.get()).isInstanceOf(StoreFailedException.class);
            assertThat(blockedReader.get()).isInstanceOf(StoreFailedException.class);
            assertThat(flushing.get()).isInstanceOf(StoreFailedException.class);
            store.engine.close();
            assertThat(completions.all())
                    .hasSize(5)
                    .allMatch(completion -> completion.problem() instanceof StoreFailedException);
            assertThat(store.engine.stats().failures()).isEqualTo(1);
        }
    }

    @Test
    void durableValuesStayReadableAfterFailure() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "durable");
            store.faults.fail(on(Kind.FORCE, LOG));
            assertThat(catchThrowable(() -> append(store.engine, 2, "fails"))).isInstanceOf(StoreFailedException.class);
            assertThat(texts(store.engine, 1)).containsExactly("0:durable");
            assertThat(catchThrowable(() -> texts(store.engine, 2))).isInstanceOf(StoreFailedException.class);
        }
    }

    /** Checks that the flusher rolls back the frames if a checkpoint's fsync fails while the flusher is writing. */
    @Test
    void weakerWritesAreUnreadableAfterFailedCheckpoint() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "durable");
            await(store.engine.write(
                    WriteBatch.create().append(2, bytes("weak")).durability(Durability.PROCESS)));
            assertThat(texts(store.engine, 2)).containsExactly("0:weak");
            store.faults.fail(on(Kind.FORCE, LOG));
            FutureTask<Throwable> checkpoint = new FutureTask<>(() -> catchThrowable(store.engine::checkpoint));
            List<FutureTask<Throwable>> reads = new ArrayList<>();
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("in flight"), NO_CALLBACK);
                write.awaitReached();
                new Thread(checkpoint, "checkpoint").start();
                Eventually.await("who reads has to wait", () -> {
                    FutureTask<Throwable> read = new FutureTask<>(() -> catchThrowable(() -> texts(store.engine, 2)));
                    Eventually.runUntilWaiting(read);
                    reads.add(read);
                    return !read.isDone();
                });
            }
            assertThat(checkpoint.get()).isInstanceOf(StoreFailedException.class);
            assertThat(reads.get(reads.size() - 1).get()).isInstanceOf(StoreFailedException.class);
        }
    }

    @Test
    void failedHeapFsyncIsFinal() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "durable in the log");
            assertThat(texts(store.engine, 1)).hasSize(1);
            store.faults.clearCalls();
            store.faults.fail(nth(1, on(Kind.FORCE, HEAP)));
            assertThat(catchThrowable(store.engine::checkpoint)).isNotNull();
            assertThat(catchThrowable(() -> store.engine.append(1, bytes("x"), NO_CALLBACK)))
                    .isInstanceOf(StoreFailedException.class);
            store.engine.close();
            assertThat(store.faults.calls(on(Kind.FORCE, HEAP))).hasSize(1);
            assertThat(store.faults.calls(on(Kind.RENAME, FaultyStore.CHECKPOINT)))
                    .isEmpty();
            assertThat(store.textsAfterPowerCut(1)).containsExactly("0:durable in the log");
        }
    }

    @Test
    void failedStoreCanBeClosedAndReopened() {
        List<String> expected = new ArrayList<>();
        MemoryStorage disk = new MemoryStorage();
        for (int i = 0; i < 4; i++) {
            try (FaultyStore store = FaultyStore.open(FaultyStore.small().build(), disk)) {
                append(store.engine, 1, "value " + i);
                expected.add("value " + i);
                store.faults.fail(on(Kind.WRITE, LOG));
                assertThat(catchThrowable(() -> append(store.engine, 1, "never written")))
                        .isInstanceOf(StoreFailedException.class);
                store.engine.close();
                assertThat(catchThrowable(() -> store.engine.read(1))).isInstanceOf(StoreClosedException.class);
            }
            try (FaultyStore store = FaultyStore.open(FaultyStore.small().build(), disk)) {
                assertThat(texts(store.engine, 1).stream().map(text -> text.substring(2)))
                        .isEqualTo(expected);
            }
        }
    }

    /** Checks that closing a failed store ends the wait of a caller that requested a checkpoint. */
    @Test
    void closingFailedStoreRejectsWaitingCheckpoint() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "a");
            FutureTask<Throwable> first = new FutureTask<>(() -> catchThrowable(store.engine::checkpoint));
            FutureTask<Throwable> second = new FutureTask<>(() -> catchThrowable(store.engine::checkpoint));
            FutureTask<Void> close = new FutureTask<>(store.engine::close, null);
            try (Hold create = store.faults.hold(on(Kind.CREATE, FaultyStore.UNFINISHED_CHECKPOINT))) {
                new Thread(first, "first checkpoint").start();
                create.awaitReached();
                Eventually.runUntilWaiting(second);
                store.faults.fail(on(Kind.FORCE, LOG));
                assertThat(catchThrowable(() -> append(store.engine, 1, "fails")))
                        .isInstanceOf(StoreFailedException.class);
                Thread closer = new Thread(close, "closer");
                closer.start();
                Eventually.await("the store is closing", () -> isClosing(store.engine));
                Eventually.awaitWaitingOrDone(closer);
            }
            close.get();
            assertThat(first.get()).isInstanceOf(StoreFailedException.class);
            assertThat(second.get()).isInstanceOfAny(StoreClosedException.class, StoreFailedException.class);
        }
    }

    private static boolean isClosing(Engine engine) {
        return catchThrowable(engine::writable) instanceof StoreClosedException;
    }
}
