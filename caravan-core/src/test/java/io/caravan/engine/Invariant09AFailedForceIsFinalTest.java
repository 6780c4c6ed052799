package io.caravan.engine;

import static io.caravan.engine.FaultyStore.HEAP;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.nth;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NOBODY;
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
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Patient;
import io.caravan.testing.Tellings;
import io.caravan.testing.Tellings.Telling;
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
@Patient
class Invariant09AFailedForceIsFinalTest {
    /** Matches writes or fsyncs of frames. Those of a segment header precede the use of the segment. */
    private static Predicate<Call> frames(Kind kind) {
        return on(kind, LOG).and(call -> kind != Kind.WRITE || call.position() > 0);
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"WRITE", "FORCE"})
    void theNthFailureFailsEverythingBehindIt(Kind kind) {
        for (int n = 1; n <= 8; n++) {
            try (FaultyStore store = FaultyStore.open()) {
                store.awaitProvisioned();
                store.faults.forgetCalls();
                store.faults.fail(nth(n, frames(kind)));
                for (int i = 1; i < n; i++) {
                    assertThat(append(store.engine, 1, "value " + i)).isEqualTo(i - 1);
                }
                Tellings tellings = new Tellings();
                store.engine.append(1, bytes("fails"), tellings.callback(1));
                assertFailed(tellings.await(1).get(0), kind);
                assertEverythingIsRefused(store, kind);
                store.faults.heal();
                assertEverythingIsRefused(store, kind);
                store.engine.close();

                assertThat(store.faults.calls(frames(Kind.FORCE)))
                        .as("forces of the log, the failed one included")
                        .hasSize(kind == Kind.FORCE ? n : n - 1);
                assertThat(tellings.all()).hasSize(1);
                assertFindsWhatWasAcknowledged(store.config, store.disk.powerCut(), n - 1);
                assertFindsWhatWasAcknowledged(store.config, store.disk.processKill(), n - 1);
            }
        }
    }

    private static void assertFailed(Telling telling, Kind kind) {
        assertThat(telling.problem()).isInstanceOf(StoreFailedException.class);
        assertThat(telling.problem().getCause())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("made to fail: " + kind);
    }

    private static void assertEverythingIsRefused(FaultyStore store, Kind kind) {
        Tellings tellings = new Tellings();
        List<Runnable> writes = List.of(
                () -> store.engine.append(1, bytes("x"), tellings.callback(1)),
                () -> store.engine.write(WriteBatch.create().append(1, bytes("x")), tellings.callback(2)),
                () -> store.engine.write(WriteBatch.create(), tellings.callback(3)),
                () -> store.engine.trim(1, 1, tellings.callback(4)),
                () -> store.engine.trimTo(1, 1, tellings.callback(5)),
                () -> store.engine.delete(1, tellings.callback(6)),
                store.engine::flush,
                store.engine::checkpoint);
        for (Runnable write : writes) {
            assertThatExceptionOfType(StoreFailedException.class)
                    .isThrownBy(write::run)
                    .havingCause()
                    .withMessageContaining("made to fail: " + kind);
        }
        assertThat(tellings.all()).isEmpty();
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

    /** A scheduler whose flusher throws after each of its steps. */
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
    void theFlusherOfAFailedStoreRestsWhateverBreaks() throws IOException {
        BrokenFlusher scheduler = new BrokenFlusher();
        Engine engine = Engine.open(FaultyStore.small().build(), new MemoryStorage(), System::nanoTime, scheduler);
        scheduler.awaitRest("caravan-flusher");
        scheduler.breaks.set(true);
        // Wakes the flusher. If something else already has, the store has failed and rejects the append.
        Throwable refused = catchThrowable(() -> engine.append(1, bytes("x"), NOBODY));
        assertThat(refused == null || refused instanceof StoreFailedException).isTrue();
        Eventually.await("the store has failed", () -> engine.stats().failures() == 1);
        Eventually.await("the failure was told", () -> scheduler.steps.get() >= 2);
        scheduler.awaitRest("caravan-flusher");
        assertThat(scheduler.steps.get()).isLessThan(10);
        engine.close();
    }

    @Test
    void everybodyIsToldOfAFailureEvenIfACallbackBreaks() {
        try (FaultyStore store = FaultyStore.open()) {
            Tellings tellings = new Tellings();
            store.faults.fail(on(Kind.FORCE, LOG));
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("in flight"), tellings.callback(0));
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
                store.engine.append(1, bytes("last"), tellings.callback(1));
            }
            assertThat(tellings.await(2)).allMatch(telling -> telling.problem() != null);
        }
    }

    @Test
    void everybodyWhoWaitsIsToldOnceAndInOrder() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "durable");
            Tellings tellings = new Tellings();
            store.faults.fail(on(Kind.FORCE, LOG));
            FutureTask<Throwable> blockedWriter = new FutureTask<>(
                    () -> catchThrowable(() -> store.engine.append(2, bytes(4000, 1), tellings.callback(99))));
            FutureTask<Throwable> blockedReader = new FutureTask<>(() -> catchThrowable(() -> texts(store.engine, 1)));
            FutureTask<Throwable> flushing = new FutureTask<>(() -> catchThrowable(store.engine::flush));
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("in flight"), tellings.callback(0));
                write.awaitReached();
                for (int i = 1; i <= 3; i++) {
                    store.engine.append(1, bytes(300, i), tellings.callback(i));
                }
                store.engine.trim(1, 1, tellings.callback(4));
                for (FutureTask<?> task : List.of(blockedReader, flushing, blockedWriter)) {
                    Eventually.runUntilWaiting(task);
                    assertThat(task).isNotDone();
                }
            }
            assertThat(tellings.await(5).stream().map(Telling::tag)).containsExactly(0L, 1L, 2L, 3L, 4L);
            assertThat(blockedWriter.get()).isInstanceOf(StoreFailedException.class);
            assertThat(blockedReader.get()).isInstanceOf(StoreFailedException.class);
            assertThat(flushing.get()).isInstanceOf(StoreFailedException.class);
            store.engine.close();
            assertThat(tellings.all())
                    .hasSize(5)
                    .allMatch(telling -> telling.problem() instanceof StoreFailedException);
            assertThat(store.engine.stats().failures()).isEqualTo(1);
        }
    }

    @Test
    void whatIsDurableCanStillBeRead() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "durable");
            store.faults.fail(on(Kind.FORCE, LOG));
            assertThat(catchThrowable(() -> append(store.engine, 2, "fails"))).isInstanceOf(StoreFailedException.class);
            assertThat(texts(store.engine, 1)).containsExactly("0:durable");
            assertThat(catchThrowable(() -> texts(store.engine, 2))).isInstanceOf(StoreFailedException.class);
        }
    }

    /** The flusher must roll back the frames after a checkpoint's fsync has failed, but is in the middle of a write. */
    @Test
    void whatACheckpointCouldNotForceIsReadNoMore() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "durable");
            await(store.engine.write(
                    WriteBatch.create().append(2, bytes("weak")).durability(Durability.PROCESS)));
            assertThat(texts(store.engine, 2)).containsExactly("0:weak");
            store.faults.fail(on(Kind.FORCE, LOG));
            FutureTask<Throwable> checkpoint = new FutureTask<>(() -> catchThrowable(store.engine::checkpoint));
            List<FutureTask<Throwable>> reads = new ArrayList<>();
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("in flight"), NOBODY);
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
    void aFailedForceOfTheHeapIsFinalToo() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "durable in the log");
            assertThat(texts(store.engine, 1)).hasSize(1);
            store.faults.forgetCalls();
            store.faults.fail(nth(1, on(Kind.FORCE, HEAP)));
            assertThat(catchThrowable(store.engine::checkpoint)).isNotNull();
            assertThat(catchThrowable(() -> store.engine.append(1, bytes("x"), NOBODY)))
                    .isInstanceOf(StoreFailedException.class);
            store.engine.close();
            assertThat(store.faults.calls(on(Kind.FORCE, HEAP))).hasSize(1);
            assertThat(store.faults.calls(on(Kind.RENAME, FaultyStore.CHECKPOINT)))
                    .isEmpty();
            assertThat(store.textsAfterPowerCut(1)).containsExactly("0:durable in the log");
        }
    }

    @Test
    void whatWasFailedCanBeClosedAndOpenedAgain() {
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

    /** A caller that requested a checkpoint of a failed store must not wait forever when the store is closed. */
    @Test
    void aCheckpointThatWaitsWhenAFailedStoreIsClosedIsRefused() throws Exception {
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
