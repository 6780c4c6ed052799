package io.caravan.engine;

import static io.caravan.testing.CallbackContract.onSuccess;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NOBODY;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.caravan.FlushPolicy;
import io.caravan.ListStore.WriteGroup;
import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.UninterruptibleThread;
import io.caravan.WriteBatch;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Patient;
import io.caravan.testing.Tellings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Writes that a caller marks as belonging together. Time passes only when a test advances it. */
@Patient
class WriteGroupTest {
    private final AtomicLong nanos = new AtomicLong();
    private final Tellings tellings = new Tellings();

    private FaultyStore open() {
        return open(FaultyStore.small().build());
    }

    private FaultyStore open(StoreConfig config) {
        return FaultyStore.open(config, new MemoryStorage(), nanos::get);
    }

    @Test
    void aGroupIsForcedWhenItIsClosedAndOnce() {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "before");
            store.awaitIdleFlusher();
            long forces = store.engine.stats().fsyncs();
            WriteGroup group = store.engine.group();
            for (int i = 0; i < 5; i++) {
                store.engine.append(1, bytes("value"), tellings.callback(i));
                store.awaitIdleFlusher();
            }
            assertThat(tellings.all()).isEmpty();
            group.close();
            tellings.await(5);
            store.awaitIdleFlusher();
            assertThat(store.engine.stats().fsyncs()).isEqualTo(forces + 1);
        }
    }

    @Test
    void aGroupThatIsNeverClosedHoldsWritesUpForAMillisecondAndOnlyOnce() {
        try (FaultyStore store = open()) {
            WriteGroup forgotten = store.engine.group();
            store.engine.append(1, bytes("waits"), tellings.callback(1));
            store.awaitIdleFlusher();
            assertThat(tellings.all()).isEmpty();
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
            tellings.await(1);
            store.engine.append(1, bytes("does not wait"), tellings.callback(2));
            tellings.await(2);

            WriteGroup next = store.engine.group();
            store.engine.append(1, bytes("waits for the next group"), tellings.callback(3));
            forgotten.close();
            store.awaitIdleFlusher();
            assertThat(tellings.all()).hasSize(2);
            next.close();
            tellings.await(3);
        }
    }

    @Test
    void closingAGroupTwiceClosesNoOther() {
        try (FaultyStore store = open()) {
            WriteGroup first = store.engine.group();
            WriteGroup second = store.engine.group();
            store.engine.append(1, bytes("value"), tellings.callback(1));
            first.close();
            first.close();
            store.awaitIdleFlusher();
            assertThat(tellings.all()).isEmpty();
            second.close();
            tellings.await(1);
        }
    }

    @Test
    void aFlushDoesNotWaitForAGroupToEnd() {
        try (FaultyStore store = open();
                WriteGroup group = store.engine.group()) {
            store.engine.append(1, bytes("value"), tellings.callback(1));
            store.engine.flush();
            assertThat(tellings.all()).hasSize(1);
        }
    }

    @Test
    void aReadDoesNotWaitForAGroupToEnd() {
        try (FaultyStore store = open();
                WriteGroup group = store.engine.group()) {
            store.engine.append(1, bytes("value"), NOBODY);
            assertThat(texts(store.engine, 1)).containsExactly("0:value");
        }
    }

    @Test
    void aGroupThatHasGatheredMuchIsNotWaitedFor() {
        StoreConfig config = FaultyStore.small()
                .logBufferBytes(256 * 1024)
                .logSegmentBytes(512 * 1024)
                .heapSegmentBytes(512 * 1024)
                .build();
        try (FaultyStore store = open(config);
                WriteGroup group = store.engine.group()) {
            for (int i = 0; i < 17; i++) {
                store.engine.append(1, bytes(FaultyStore.MAX_VALUE_BYTES, i), tellings.callback(i));
            }
            tellings.await(16);
        }
    }

    @Test
    void aGroupThatIsOpenedLaterKeepsNobodyWaiting() {
        try (FaultyStore store = open();
                WriteGroup first = store.engine.group()) {
            store.engine.append(1, bytes("of the first"), tellings.callback(1));
            try (WriteGroup second = store.engine.group()) {
                store.engine.append(1, bytes("of the second"), tellings.callback(2));
            }
            tellings.await(2);
        }
    }

    @Test
    void whoIsAloneMakesTheFlushItself() throws Exception {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "is flushed by the flusher, which learns how quick that is");
            store.awaitIdleFlusher();
            List<Thread> tellers = new ArrayList<>();
            Thread writer = onLoop(() -> appendAndFlush(store, tellers));
            assertThat(tellers).as("told before it returned").containsExactly(writer);
            assertThat(texts(store.afterPowerCut().engine, 1)).hasSize(2);
        }
    }

    /** Appends to list 1 in a group and flushes it. {@code tellers} may be read after the return. */
    private static void appendAndFlush(FaultyStore store, List<Thread> tellers) {
        WriteGroup group = store.engine.group();
        store.engine.append(1, bytes("value"), onSuccess(() -> tellers.add(Thread.currentThread())));
        group.closeAndFlush();
    }

    /** Runs a task on a thread that may flush, and rethrows its exception. */
    private static Thread onLoop(Runnable task) throws Exception {
        FutureTask<?> done = new FutureTask<>(task, null);
        Thread loop = new UninterruptibleThread(done, "loop");
        loop.start();
        done.get();
        return loop;
    }

    @Test
    void theFlusherMakesItForAThreadThatCanBeInterrupted() {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            WriteGroup group = store.engine.group();
            store.engine.append(1, bytes("value"), tellings.callback(1));
            Thread.currentThread().interrupt();
            group.closeAndFlush();
            assertThat(Thread.interrupted()).isTrue();
            tellings.await(1);
            assertThat(append(store.engine, 1, "goes on")).isEqualTo(2);
        }
    }

    @Test
    void theFlusherMakesItWhereWritesAreToGather() throws Exception {
        try (FaultyStore store = open(FaultyStore.small()
                .flushPolicy(FlushPolicy.fixedDelay(Duration.ofMillis(2)))
                .build())) {
            store.engine.append(1, bytes("first"), tellings.callback(1));
            store.engine.flush();
            assertNotFlushedHere(store);
        }
    }

    @Test
    void theFlusherMakesItWhereTheWriteIsPatient() throws Exception {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            onLoop(() -> {
                WriteGroup group = store.engine.group();
                store.engine.write(
                        WriteBatch.create().append(1, bytes("patient")).flushDelay(Duration.ofMillis(2)),
                        tellings.callback(1));
                group.closeAndFlush();
                assertThat(tellings.all()).isEmpty();
            });
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(2));
            tellings.await(1);
        }
    }

    @Test
    void theFlusherMakesItWhileAnotherWrites() throws Exception {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            try (WriteGroup another = store.engine.group()) {
                assertNotFlushedHere(store);
            }
        }
    }

    private void assertNotFlushedHere(FaultyStore store) throws Exception {
        onLoop(() -> {
            WriteGroup group = store.engine.group();
            store.engine.append(1, bytes("value"), tellings.callback(2));
            int told = tellings.all().size();
            group.closeAndFlush();
            assertThat(tellings.all()).hasSize(told);
        });
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(2));
        store.engine.flush();
        assertThat(tellings.all()).extracting(Tellings.Telling::tag).contains(2L);
    }

    @Test
    void aThreadThatFlushesIsAStoreThread() throws Exception {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            List<Throwable> refusals = new ArrayList<>();
            onLoop(() -> {
                WriteGroup group = store.engine.group();
                store.engine.append(
                        1, bytes("value"), onSuccess(() -> refusals.add(catchThrowable(store.engine::flush))));
                group.closeAndFlush();
                store.engine.flush();
            });
            assertThat(refusals).singleElement().isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void checkpointsComeThoughTheFlusherHasNothingToDo() throws Exception {
        StoreConfig config = FaultyStore.small().checkpointFloorBytes(16 * 1024).build();
        try (FaultyStore store = open(config)) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            long before = store.engine.stats().checkpoints();
            onLoop(() -> {
                for (int i = 0; i < 20; i++) {
                    store.awaitProvisioned();
                    WriteGroup group = store.engine.group();
                    store.engine.append(1, bytes(FaultyStore.MAX_VALUE_BYTES, i), tellings.callback(i));
                    group.closeAndFlush();
                }
            });
            Eventually.await("a checkpoint", () -> store.engine.stats().checkpoints() > before);
        }
    }

    @Test
    void aWriterThatComesMeanwhileAndTheEndOfTheStoreWaitForIt() throws Exception {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            Hold force = store.faults.hold(on(Kind.FORCE, FaultyStore.LOG));
            Thread loop = new UninterruptibleThread(() -> appendAndFlush(store, new ArrayList<>()), "loop");
            loop.start();
            force.awaitReached();
            store.engine.append(1, bytes("meanwhile"), tellings.callback(1));
            Thread closer = new Thread(store.engine::close);
            closer.start();
            assertThat(tellings.all()).isEmpty();
            force.release();
            loop.join();
            closer.join();
            assertThat(tellings.all()).containsExactly(Tellings.Telling.success(1, 2));
            assertThat(store.textsAfterPowerCut(1)).containsExactly("0:first", "1:value", "2:meanwhile");
        }
    }

    /** A flush in progress continues when the store fails. Until it ends, no other begins, and the files stay open. */
    @Test
    void theEndOfAStoreThatFailsMeanwhileWaitsForIt() throws Exception {
        FaultyStore store = open();
        append(store.engine, 1, "first");
        store.awaitIdleFlusher();
        Hold heap = store.faults.hold(on(Kind.FORCE, FaultyStore.HEAP));
        store.faults.fail(on(Kind.FORCE, FaultyStore.HEAP));
        FutureTask<Throwable> checkpoint = new FutureTask<>(() -> catchThrowable(store.engine::checkpoint));
        new Thread(checkpoint, "checkpoint").start();
        heap.awaitReached();
        Hold force = store.faults.hold(on(Kind.FORCE, FaultyStore.LOG));
        Thread loop = new UninterruptibleThread(
                () -> {
                    WriteGroup group = store.engine.group();
                    store.engine.append(1, bytes("in flight"), tellings.callback(1));
                    group.closeAndFlush();
                },
                "loop");
        loop.start();
        force.awaitReached();
        store.engine.append(1, bytes("next"), tellings.callback(2));
        heap.release();
        assertThat(checkpoint.get()).isInstanceOf(StoreFailedException.class);
        store.awaitIdleFlusher();
        AtomicBoolean released = new AtomicBoolean();
        FutureTask<Boolean> closing = new FutureTask<>(() -> {
            store.engine.close();
            return released.get();
        });
        Eventually.runUntilWaiting(closing);
        store.awaitIdleFlusher();
        assertThat(tellings.all()).isEmpty();
        released.set(true);
        force.release();
        assertThat(closing.get()).as("closed after the flush").isTrue();
        loop.join();
        assertThat(tellings.all()).hasSize(2).first().isEqualTo(Tellings.Telling.success(1, 1));
        assertThat(tellings.all().get(1).problem()).isInstanceOf(StoreFailedException.class);
    }

    @Test
    void closingTheStoreDoesNotWaitForAGroupToEnd() {
        try (FaultyStore store = open();
                WriteGroup group = store.engine.group()) {
            store.engine.append(1, bytes("value"), tellings.callback(1));
            store.engine.close();
            assertThat(tellings.all()).hasSize(1);
        }
    }
}
