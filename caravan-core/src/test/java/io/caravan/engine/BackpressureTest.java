package io.caravan.engine;

import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.Durability;
import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.WriteBatch;
import io.caravan.testing.CallbackContract;
import io.caravan.testing.Completions;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/**
 * Tests a store whose writers are faster than its disk: which writers wait, when it is unwritable, and when it runs
 * actions.
 */
@LongTimeout
class BackpressureTest {
    /** A value so large that two of them fill an 8 KiB log buffer. */
    private static final byte[] LARGE = bytes(3900, 1);

    private static void fillTheActiveBuffer(FaultyStore store, Hold force) {
        store.engine.append(1, LARGE, NO_CALLBACK);
        force.awaitReached();
        store.engine.append(1, LARGE, NO_CALLBACK);
        store.engine.append(1, LARGE, NO_CALLBACK);
    }

    @Test
    void storeIsNotWritableWhileBuffersAreOverHalfFull() {
        try (FaultyStore store = FaultyStore.open()) {
            store.awaitProvisioned();
            assertThat(store.engine.writable()).isTrue();
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                fillTheActiveBuffer(store, force);
                assertThat(store.engine.writable()).isFalse();
            }
            Eventually.await("the store is writable again", store.engine::writable);
        }
    }

    /** Checks that clients of a growing store do not wait each time the log enters a segment. */
    @Test
    void storeIsWritableWhileLaterSegmentIsCreated() {
        try (FaultyStore store = FaultyStore.open()) {
            store.awaitProvisioned();
            long ready = store.engine.provisioner.lastReadySegment();
            try (Hold creation = store.faults.hold(on(Kind.CREATE, "log-.*"))) {
                while (store.engine.provisioner.currentSegment() < ready - 1) {
                    append(store.engine, 1, "x".repeat(1000));
                }
                creation.awaitReached();
                assertThat(store.engine.writable()).isTrue();
                assertThat(store.engine.tryWrite(WriteBatch.create().append(1, LARGE), NO_CALLBACK))
                        .isTrue();
                store.engine.flush();
                while (store.engine.writable()) {
                    append(store.engine, 1, "x".repeat(1000));
                }
                assertThat(store.engine.provisioner.lastReadySegment()).isEqualTo(ready);
            }
            Eventually.await("the store is writable again", store.engine::writable);
        }
    }

    @Test
    void writerWaitsForSpaceAndContinues() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            FutureTask<Long> append = new FutureTask<>(() -> append(store.engine, 2, "x".repeat(1000)));
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                fillTheActiveBuffer(store, force);
                Eventually.runUntilWaiting(append);
                assertThat(store.engine.stats().appends()).isEqualTo(3);
            }
            assertThat(append.get()).isEqualTo(0);
            assertThat(store.engine.stats().appends()).isEqualTo(4);
        }
    }

    /** Checks that a commit stays full if a flush adds a callback beyond the maximum number of write callbacks. */
    @Test
    void commitBeyondCallbackLimitIsFull() {
        Commit commit = new Commit(8192);
        while (!commit.full()) {
            commit.add(NO_CALLBACK, 0);
        }
        commit.add(NO_CALLBACK, 0);
        assertThat(commit.full()).isTrue();
    }

    @Test
    void tryWriteWithoutSpaceChangesNothing() {
        try (FaultyStore store = FaultyStore.open()) {
            store.awaitProvisioned();
            Completions completions = new Completions();
            WriteBatch batch = WriteBatch.create().append(2, LARGE).append(3, bytes("small"));
            WriteBatch append = WriteBatch.create().append(2, LARGE);
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                fillTheActiveBuffer(store, force);
                long usedBytes = store.engine.stats().heap().usedBytes();
                assertThat(store.engine.tryWrite(batch, completions.callback(1)))
                        .isFalse();
                assertThat(store.engine.tryWrite(append, completions.callback(2)))
                        .isFalse();
                assertThat(store.engine.stats().heap().usedBytes()).isEqualTo(usedBytes);
            }
            store.engine.flush();
            assertThat(store.engine.info(2)).isNull();
            assertThat(completions.all()).isEmpty();
            CompletableFuture<Void> writable = new CompletableFuture<>();
            store.engine.onWritable(() -> writable.complete(null));
            await(writable);
            assertThat(store.engine.tryWrite(batch, completions.callback(3))).isTrue();
            completions.await(1);
        }
    }

    /**
     * Checks that the action waits for more space than the rejected batch found, because its caller would otherwise
     * retry without a pause until the flush.
     */
    @Test
    void actionAfterRejectedTryRunsOnlyWhenMoreSpaceIsAvailable() {
        try (FaultyStore store = FaultyStore.open()) {
            store.awaitProvisioned();
            WriteBatch batch = WriteBatch.create().append(2, LARGE).append(2, bytes(3000, 1));
            CompletableFuture<Boolean> accepted = new CompletableFuture<>();
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                store.engine.append(1, bytes("in flight"), NO_CALLBACK);
                force.awaitReached();
                store.engine.append(1, bytes(1500, 1), NO_CALLBACK);
                assertThat(store.engine.writable()).isTrue();
                assertThat(store.engine.tryWrite(batch, NO_CALLBACK)).isFalse();
                assertThat(store.engine.writable()).isFalse();
                store.engine.onWritable(() -> accepted.complete(store.engine.tryWrite(batch, NO_CALLBACK)));
                assertThat(accepted).isNotDone();
            }
            assertThat(await(accepted)).isTrue();
            assertThat(store.engine.stats().rejections()).isZero();
        }
    }

    @Test
    void tryWriteDoesNotWaitForTrimmedSpace() {
        StoreConfig config =
                FaultyStore.small().maxHeapBytes(FaultyStore.HEAP_SEGMENT_BYTES).build();
        try (FaultyStore store = FaultyStore.open(config)) {
            WriteBatch batch = WriteBatch.create().append(1, LARGE);
            assertThatExceptionOfType(OutOfSpaceException.class).isThrownBy(() -> {
                while (store.engine.tryWrite(batch, NO_CALLBACK)) {
                    store.engine.flush();
                }
            });
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                store.engine.trim(1, 1, NO_CALLBACK);
                force.awaitReached();
                assertThat(store.engine.tryWrite(batch, NO_CALLBACK)).isFalse();
            }
            Eventually.await("there is space again", () -> store.engine.tryWrite(batch, NO_CALLBACK));
        }
    }

    @Test
    void actionRunsOnceWhenSpaceIsAvailable() {
        try (FaultyStore store = FaultyStore.open()) {
            Completions runs = new Completions();
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                fillTheActiveBuffer(store, force);
                store.engine.onWritable(() -> runs.callback(1).success(store.engine.writable() ? 1 : 0));
                assertThat(runs.all()).isEmpty();
            }
            assertThat(runs.await(1)).containsExactly(Completions.Completion.success(1, 1));
            append(store.engine, 1, "more");
            store.engine.flush();
            assertThat(runs.all()).hasSize(1);
        }
    }

    @Test
    void throwingActionDoesNotPreventNextAction() throws Exception {
        throwingActionDoesNotPreventNextAction(new IllegalStateException("an action's own mistake, thrown on purpose"));
        FaultyStore.whileLogging(
                WorkerThread.class, () -> throwingActionDoesNotPreventNextAction(new FaultyStore.Unloggable()));
    }

    private static void throwingActionDoesNotPreventNextAction(RuntimeException mistake) {
        try (FaultyStore store = FaultyStore.open()) {
            CountDownLatch ran = new CountDownLatch(1);
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                fillTheActiveBuffer(store, force);
                store.engine.onWritable(() -> {
                    throw mistake;
                });
                store.engine.onWritable(ran::countDown);
            }
            Eventually.await("the second action ran", () -> ran.getCount() == 0);
            assertThat(append(store.engine, 2, "goes on")).isEqualTo(0);
        }
    }

    @Test
    void appendInCallbackThrowsInsteadOfWaiting() {
        try (FaultyStore store = FaultyStore.open()) {
            CompletableFuture<Integer> accepted = new CompletableFuture<>();
            store.engine.append(1, LARGE, CallbackContract.onSuccess(() -> {
                int count = 0;
                try {
                    while (count < 100) {
                        store.engine.append(2, LARGE, NO_CALLBACK);
                        count++;
                    }
                    accepted.completeExceptionally(new AssertionError("a callback filled more than the buffers hold"));
                } catch (NotWritableException full) {
                    accepted.complete(count);
                }
            }));
            assertThat(await(accepted)).isBetween(1, 2);
            store.engine.flush();
            assertThat(store.engine.info(2).nextSequence())
                    .isEqualTo(await(accepted).longValue());
            assertThat(store.engine.stats().rejections()).isEqualTo(1);
        }
    }

    /** Checks that the store becomes writable again without another write, because an event loop may wait for that. */
    @Test
    void storeBecomesWritableAfterFrameFillsSegment() {
        try (FaultyStore store = FaultyStore.open()) {
            // The segment's first block is its header; three frames of a block each fill the rest.
            append(store.engine, 1, "a");
            append(store.engine, 1, "b");
            append(store.engine, 1, "c");
            Eventually.await("the store is writable", store.engine::writable);
            assertThat(append(store.engine, 1, "d")).isEqualTo(3);
        }
    }

    /** Checks that the action runs without another write if a new log segment, and not a flush, provides the space. */
    @Test
    void actionRunsWhenNextLogSegmentIsReady() {
        try (FaultyStore store = FaultyStore.open()) {
            store.awaitProvisioned();
            CountDownLatch ran = new CountDownLatch(1);
            try (Hold create = store.faults.hold(on(Kind.CREATE, "log-.*"))) {
                while (store.engine.writable()) {
                    append(store.engine, 1, "a frame");
                }
                create.awaitReached();
                store.engine.onWritable(ran::countDown);
                store.awaitIdleFlusher();
                assertThat(ran.getCount()).isEqualTo(1);
            }
            Eventually.await("the action ran", () -> ran.getCount() == 0);
        }
    }

    /** Checks that the action runs after a trim, although no fsync happens on its own at this durability level. */
    @Test
    void actionRunsAfterTrimInStoreThatExceedsItsHeapLimit() {
        try (FaultyStore larger = FaultyStore.open(
                FaultyStore.small().durability(Durability.PROCESS).build())) {
            larger.appendMany(1, 20, FaultyStore.MAX_VALUE_BYTES);
            StoreConfig smaller = FaultyStore.small()
                    .durability(Durability.PROCESS)
                    .maxHeapBytes(FaultyStore.HEAP_SEGMENT_BYTES)
                    .build();
            try (FaultyStore store = FaultyStore.open(smaller, larger.disk.processKill())) {
                store.awaitProvisioned();
                awaitWrite(trimmed -> store.engine.trim(1, 1, trimmed));
                assertThat(store.engine.writable()).isFalse();
                CompletableFuture<Void> writable = new CompletableFuture<>();
                store.engine.onWritable(() -> writable.complete(null));
                await(writable);
            }
        }
    }

    @Test
    void actionRunsWhenStoreFails() {
        try (FaultyStore store = FaultyStore.open()) {
            CountDownLatch ran = new CountDownLatch(1);
            store.faults.fail(on(Kind.FORCE, LOG));
            try (Hold force = store.faults.hold(on(Kind.WRITE, LOG))) {
                fillTheActiveBuffer(store, force);
                store.engine.onWritable(ran::countDown);
            }
            Eventually.await("the action ran", () -> ran.getCount() == 0);
            assertThat(store.engine.writable())
                    .as("a write would not wait but be rejected")
                    .isTrue();
        }
    }
}
