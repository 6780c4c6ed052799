package io.caravan.engine;

import static io.caravan.testing.CallbackContract.onSuccess;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
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
import io.caravan.testing.Completions;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests groups of writes, which callers mark as belonging together. Time passes only when a test advances it. */
@LongTimeout
class WriteGroupTest {
    private final AtomicLong nanos = new AtomicLong();
    private final Completions completions = new Completions();

    private FaultyStore open() {
        return open(FaultyStore.small().build());
    }

    private FaultyStore open(StoreConfig config) {
        return FaultyStore.open(config, new MemoryStorage(), nanos::get);
    }

    @Test
    void closingGroupFsyncsItOnce() {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "before");
            store.awaitIdleFlusher();
            long fsyncsBefore = store.engine.stats().fsyncs();
            WriteGroup group = store.engine.group();
            for (int i = 0; i < 5; i++) {
                store.engine.append(1, bytes("value"), completions.callback(i));
                store.awaitIdleFlusher();
            }
            assertThat(completions.all()).isEmpty();
            group.close();
            completions.await(5);
            store.awaitIdleFlusher();
            assertThat(store.engine.stats().fsyncs()).isEqualTo(fsyncsBefore + 1);
        }
    }

    @Test
    void unclosedGroupDelaysWritesOnceForOneMillisecond() {
        try (FaultyStore store = open()) {
            WriteGroup unclosed = store.engine.group();
            store.engine.append(1, bytes("waits"), completions.callback(1));
            store.awaitIdleFlusher();
            assertThat(completions.all()).isEmpty();
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
            completions.await(1);
            store.engine.append(1, bytes("does not wait"), completions.callback(2));
            completions.await(2);

            WriteGroup next = store.engine.group();
            store.engine.append(1, bytes("waits for the next group"), completions.callback(3));
            unclosed.close();
            store.awaitIdleFlusher();
            assertThat(completions.all()).hasSize(2);
            next.close();
            completions.await(3);
        }
    }

    @Test
    void closingGroupTwiceDoesNotCloseAnotherGroup() {
        try (FaultyStore store = open()) {
            WriteGroup first = store.engine.group();
            WriteGroup second = store.engine.group();
            store.engine.append(1, bytes("value"), completions.callback(1));
            first.close();
            first.close();
            store.awaitIdleFlusher();
            assertThat(completions.all()).isEmpty();
            second.close();
            completions.await(1);
        }
    }

    @Test
    void flushDoesNotWaitForOpenGroup() {
        try (FaultyStore store = open();
                WriteGroup group = store.engine.group()) {
            store.engine.append(1, bytes("value"), completions.callback(1));
            store.engine.flush();
            assertThat(completions.all()).hasSize(1);
        }
    }

    @Test
    void readDoesNotWaitForOpenGroup() {
        try (FaultyStore store = open();
                WriteGroup group = store.engine.group()) {
            store.engine.append(1, bytes("value"), NO_CALLBACK);
            assertThat(texts(store.engine, 1)).containsExactly("0:value");
        }
    }

    @Test
    void largeGroupIsFlushedBeforeItCloses() {
        StoreConfig config = FaultyStore.small()
                .logBufferBytes(256 * 1024)
                .logSegmentBytes(512 * 1024)
                .heapSegmentBytes(512 * 1024)
                .build();
        try (FaultyStore store = open(config);
                WriteGroup group = store.engine.group()) {
            for (int i = 0; i < 17; i++) {
                store.engine.append(1, bytes(FaultyStore.MAX_VALUE_BYTES, i), completions.callback(i));
            }
            completions.await(16);
        }
    }

    @Test
    void groupOpenedAfterFirstWriteDoesNotDelayFlush() {
        try (FaultyStore store = open();
                WriteGroup first = store.engine.group()) {
            store.engine.append(1, bytes("of the first"), completions.callback(1));
            try (WriteGroup second = store.engine.group()) {
                store.engine.append(1, bytes("of the second"), completions.callback(2));
            }
            completions.await(2);
        }
    }

    @Test
    void soleWriterFlushesOnItsOwnThread() throws Exception {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "is flushed by the flusher, which learns how quick that is");
            store.awaitIdleFlusher();
            List<Thread> callbackThreads = new ArrayList<>();
            Thread writer = onLoop(() -> appendAndFlush(store, callbackThreads));
            assertThat(callbackThreads).as("notified before it returned").containsExactly(writer);
            assertThat(texts(store.afterPowerCut().engine, 1)).hasSize(2);
        }
    }

    /** Appends to list 1 in a group and flushes the group. {@code callbackThreads} may be read after the return. */
    private static void appendAndFlush(FaultyStore store, List<Thread> callbackThreads) {
        WriteGroup group = store.engine.group();
        store.engine.append(1, bytes("value"), onSuccess(() -> callbackThreads.add(Thread.currentThread())));
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
    void flusherFlushesForInterruptibleThread() {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            WriteGroup group = store.engine.group();
            store.engine.append(1, bytes("value"), completions.callback(1));
            Thread.currentThread().interrupt();
            group.closeAndFlush();
            assertThat(Thread.interrupted()).isTrue();
            completions.await(1);
            assertThat(append(store.engine, 1, "goes on")).isEqualTo(2);
        }
    }

    @Test
    void flusherFlushesWhenPolicyDelaysFlushes() throws Exception {
        try (FaultyStore store = open(FaultyStore.small()
                .flushPolicy(FlushPolicy.fixedDelay(Duration.ofMillis(2)))
                .build())) {
            store.engine.append(1, bytes("first"), completions.callback(1));
            store.engine.flush();
            assertNotFlushedHere(store);
        }
    }

    @Test
    void flusherFlushesWhenWriteAllowsDelay() throws Exception {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            onLoop(() -> {
                WriteGroup group = store.engine.group();
                store.engine.write(
                        WriteBatch.create().append(1, bytes("patient")).flushDelay(Duration.ofMillis(2)),
                        completions.callback(1));
                group.closeAndFlush();
                assertThat(completions.all()).isEmpty();
            });
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(2));
            completions.await(1);
        }
    }

    @Test
    void flusherFlushesWhileAnotherGroupIsOpen() throws Exception {
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
            store.engine.append(1, bytes("value"), completions.callback(2));
            int completedBefore = completions.all().size();
            group.closeAndFlush();
            assertThat(completions.all()).hasSize(completedBefore);
        });
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(2));
        store.engine.flush();
        assertThat(completions.all()).extracting(Completions.Completion::tag).contains(2L);
    }

    @Test
    void writerCountsAsStoreThreadDuringItsFlush() throws Exception {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            List<Throwable> rejections = new ArrayList<>();
            onLoop(() -> {
                WriteGroup group = store.engine.group();
                store.engine.append(
                        1, bytes("value"), onSuccess(() -> rejections.add(catchThrowable(store.engine::flush))));
                group.closeAndFlush();
                store.engine.flush();
            });
            assertThat(rejections).singleElement().isInstanceOf(IllegalStateException.class);
        }
    }

    /** Checks that a callback that flushes a group of another store does not end the time as a store thread. */
    @Test
    void writerStaysStoreThreadWhenCallbackFlushesAnotherStore() throws Exception {
        try (FaultyStore store = open();
                FaultyStore other = open()) {
            for (FaultyStore opened : List.of(store, other)) {
                append(opened.engine, 1, "first");
                opened.awaitIdleFlusher();
            }
            List<Thread> flushedHere = new ArrayList<>();
            List<Throwable> rejections = new ArrayList<>();
            Thread loop = onLoop(() -> {
                WriteGroup group = store.engine.group();
                store.engine.append(1, bytes("value"), onSuccess(() -> appendAndFlush(other, flushedHere)));
                store.engine.append(
                        1, bytes("next"), onSuccess(() -> rejections.add(catchThrowable(other.engine::flush))));
                group.closeAndFlush();
                store.engine.flush();
            });
            assertThat(flushedHere).containsExactly(loop);
            assertThat(rejections).singleElement().isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void checkpointsRunWhenWritersFlushThemselves() throws Exception {
        StoreConfig config = FaultyStore.small().checkpointFloorBytes(16 * 1024).build();
        try (FaultyStore store = open(config)) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            long before = store.engine.stats().checkpoints();
            onLoop(() -> {
                for (int i = 0; i < 20; i++) {
                    store.awaitProvisioned();
                    WriteGroup group = store.engine.group();
                    store.engine.append(1, bytes(FaultyStore.MAX_VALUE_BYTES, i), completions.callback(i));
                    group.closeAndFlush();
                }
            });
            Eventually.await("a checkpoint", () -> store.engine.stats().checkpoints() > before);
        }
    }

    /** Checks that the flusher frees regions that remain after a writer's flush, which frees only a bounded number. */
    @Test
    void flusherFreesWhatWriterFlushLeaves() throws Exception {
        try (FaultyStore store = open()) {
            store.appendMany(1, 1_000, 8);
            store.awaitIdleFlusher();
            Thread loop = new UninterruptibleThread(
                    () -> {
                        WriteGroup group = store.engine.group();
                        store.engine.trim(1, 1_000, completions.callback(1));
                        group.closeAndFlush();
                    },
                    "loop");
            try (Hold fsync = store.faults.hold(on(Kind.FORCE, FaultyStore.LOG))) {
                loop.start();
                fsync.awaitReached();
                // After the second step, the flusher no longer expects the first write of a group.
                for (int step = 0; step < 2; step++) {
                    store.engine.state.wakes.flusher().run();
                    store.awaitIdleFlusher();
                }
            }
            loop.join();
            store.awaitIdleFlusher();
            assertThat(store.engine.stats().heap().usedBytes()).isZero();
        }
    }

    @Test
    void concurrentWriteAndCloseWaitForWriterFlush() throws Exception {
        try (FaultyStore store = open()) {
            append(store.engine, 1, "first");
            store.awaitIdleFlusher();
            Hold fsync = store.faults.hold(on(Kind.FORCE, FaultyStore.LOG));
            Thread loop = new UninterruptibleThread(() -> appendAndFlush(store, new ArrayList<>()), "loop");
            loop.start();
            fsync.awaitReached();
            store.engine.append(1, bytes("meanwhile"), completions.callback(1));
            Thread closer = new Thread(store.engine::close);
            closer.start();
            assertThat(completions.all()).isEmpty();
            fsync.release();
            loop.join();
            closer.join();
            assertThat(completions.all()).containsExactly(Completions.Completion.success(1, 2));
            assertThat(store.textsAfterPowerCut(1)).containsExactly("0:first", "1:value", "2:meanwhile");
        }
    }

    /** Checks that a failed store's close waits for the flush in progress, and that no other begins in the meantime. */
    @Test
    void closeOfFailedStoreWaitsForFlushInProgress() throws Exception {
        FaultyStore store = open();
        append(store.engine, 1, "first");
        store.awaitIdleFlusher();
        Hold heap = store.faults.hold(on(Kind.FORCE, FaultyStore.HEAP));
        store.faults.fail(on(Kind.FORCE, FaultyStore.HEAP));
        FutureTask<Throwable> checkpoint = new FutureTask<>(() -> catchThrowable(store.engine::checkpoint));
        new Thread(checkpoint, "checkpoint").start();
        heap.awaitReached();
        Hold fsync = store.faults.hold(on(Kind.FORCE, FaultyStore.LOG));
        Thread loop = new UninterruptibleThread(
                () -> {
                    WriteGroup group = store.engine.group();
                    store.engine.append(1, bytes("in flight"), completions.callback(1));
                    group.closeAndFlush();
                },
                "loop");
        loop.start();
        fsync.awaitReached();
        store.engine.append(1, bytes("next"), completions.callback(2));
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
        assertThat(completions.all()).isEmpty();
        released.set(true);
        fsync.release();
        assertThat(closing.get()).as("closed after the flush").isTrue();
        loop.join();
        assertThat(completions.all()).hasSize(2).first().isEqualTo(Completions.Completion.success(1, 1));
        assertThat(completions.all().get(1).problem()).isInstanceOf(StoreFailedException.class);
    }

    @Test
    void closeDoesNotWaitForOpenGroup() {
        try (FaultyStore store = open();
                WriteGroup group = store.engine.group()) {
            store.engine.append(1, bytes("value"), completions.callback(1));
            store.engine.close();
            assertThat(completions.all()).hasSize(1);
        }
    }
}
