package io.caravan.engine;

import static io.caravan.engine.FaultyStore.HEAP;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.NO_CALLBACK;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.copyOf;
import static io.caravan.testing.StoreCalls.texts;
import static io.caravan.testing.StoreCalls.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.Durability;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.WriteBatch;
import io.caravan.format.EntryLayout;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Invariant 2: the heap contains only values of durable frames, and no region refers to heap bytes that are not
 * durable. Freed bytes are not overwritten before a checkpoint that contains the trim or deletion is published.
 */
@LongTimeout
class Invariant02HeapHoldsOnlyDurableFramesTest {
    /** The number of values of {@link #FULL_LENGTH} bytes that fill the only heap segment. */
    private static final int FULL_COUNT = 12;

    private static final int FULL_LENGTH = 1000;

    private static StoreConfig.Builder oneHeapSegment() {
        return FaultyStore.small().maxHeapBytes(FaultyStore.HEAP_SEGMENT_BYTES);
    }

    /** Checks that a checkpoint fsyncs the log before it moves values, because the store does not do so on its own. */
    @Test
    void checkpointMovesNothingToHeapBeforeLogFsync() throws Exception {
        StoreConfig config = FaultyStore.small().durability(Durability.PROCESS).build();
        try (FaultyStore store = FaultyStore.open(config)) {
            append(store.engine, 1, "already durable");
            store.engine.checkpoint();
            assertThat(store.heapBytes()).contains("already durable");
            append(store.engine, 1, "not durable yet");
            FutureTask<Void> checkpoint = new FutureTask<>(store.engine::checkpoint, null);
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                Thread waiting = new Thread(checkpoint, "checkpoint");
                waiting.start();
                force.awaitReached();
                Eventually.awaitWaitingOrDone(waiting);
                assertThat(store.allBytes(LOG)).contains("not durable yet");
                assertThat(store.heapBytes()).doesNotContain("not durable yet");
            }
            checkpoint.get();
            assertThat(texts(store.engine, 1)).containsExactly("0:already durable", "1:not durable yet");
            assertThat(store.heapBytes()).contains("not durable yet");
        }
    }

    /** Checks that damage to unfsynced heap bytes does no harm, because the values are also in the log. */
    @Test
    void noRegionReferencesHeapBytesBeforeFsync() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "a survivor");
            store.duringCheckpoint(on(Kind.FORCE, HEAP), () -> {
                FaultyStore.Place written = store.find(bytes("a survivor"));
                store.disk.bytes(written.file()).put(written.offset(), (byte) '-');
                assertThat(texts(store.engine, 1)).containsExactly("0:a survivor");
                store.disk.bytes(written.file()).put(written.offset(), (byte) 'a');
                assertThat(store.textsAfterPowerCut(1)).containsExactly("0:a survivor");
            });
            store.closeAndVerify();
        }
    }

    @Test
    void frameWithFailedFsyncNeverReachesHeap() {
        try (FaultyStore store = FaultyStore.open()) {
            store.faults.fail(on(Kind.FORCE, LOG));
            assertThatExceptionOfType(io.caravan.StoreFailedException.class)
                    .isThrownBy(() -> append(store.engine, 1, "never durable"));
            store.engine.close();
            assertThat(store.heapBytes()).doesNotContain("never durable");
        }
    }

    @Test
    void trimmedRegionIsReusedOnlyAfterTrimFsync() throws Exception {
        try (FaultyStore store = FaultyStore.open(oneHeapSegment().build())) {
            store.appendMany(1, FULL_COUNT, FULL_LENGTH);
            FutureTask<Long> append = new FutureTask<>(
                    () -> awaitWrite(reported -> store.engine.append(2, bytes(FULL_LENGTH, 99), reported)));
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                store.engine.trim(1, FULL_COUNT, NO_CALLBACK);
                force.awaitReached();
                Eventually.runUntilWaiting(append);
                assertThat(store.engine.stats().appends()).isEqualTo(FULL_COUNT);
                assertThat(store.engine.stats().heap().usedBytes()).isGreaterThan(FULL_COUNT * FULL_LENGTH);
            }
            assertThat(append.get()).isEqualTo(0);
            assertThat(values(store.engine, 2)).containsExactly(Value.of(0, bytes(FULL_LENGTH, 99)));
        }
    }

    /**
     * Checks that regions are not overwritten too early at {@code PROCESS}, where the flusher applies writes
     * immediately.
     */
    @Test
    void crashNeverRestoresListWithOverwrittenRegions() throws Exception {
        StoreConfig config = oneHeapSegment().durability(Durability.PROCESS).build();
        try (FaultyStore store = FaultyStore.open(config)) {
            store.appendMany(1, FULL_COUNT, FULL_LENGTH);
            store.engine.checkpoint();
            List<Value> before = values(store.engine, 1);
            String heap = store.heapBytes();
            awaitWrite(reported -> store.engine.trim(1, FULL_COUNT, reported));
            FutureTask<Long> append = new FutureTask<>(
                    () -> awaitWrite(reported -> store.engine.append(2, bytes(FULL_LENGTH, 99), reported)));
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                Eventually.runUntilWaiting(append);
                store.engine.stats();
                assertThat(append).isNotDone();
                assertThat(store.heapBytes()).isEqualTo(heap);
                // The trim is not fsynced, so a power cut undoes it, and the list must be complete.
                try (FaultyStore cut = store.afterPowerCut()) {
                    assertThat(values(cut.engine, 1)).isEqualTo(before);
                }
            }
            assertThat(append.get()).isEqualTo(0);
        }
    }

    /**
     * Checks that a reader finds the values of a log segment that is deleted during the read, even if only the reader
     * still needs these values.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void readerFindsValuesMovedDuringRead(boolean deleted) {
        try (FaultyStore store = FaultyStore.open()) {
            store.appendMany(1, 20, 100);
            String firstLog = store.files(LOG).get(0);
            List<Value> before = values(store.engine, 1);
            List<Value> read = new ArrayList<>();
            store.engine.get(1, StoreCalls.each((sequence, value) -> {
                if (sequence == 0) {
                    if (deleted) {
                        awaitWrite(reported -> store.engine.delete(1, reported));
                    }
                    for (int i = 0; i < 3; i++) {
                        store.appendMany(2, 10, 3000);
                        store.engine.checkpoint();
                    }
                    store.awaitProvisioned();
                    assertThat(store.files(LOG)).doesNotContain(firstLog);
                }
                read.add(Value.of(sequence, copyOf(value)));
            }));
            assertThat(read).isEqualTo(before);
            store.closeAndVerify();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void pinnedRegionsAreNotReusedDuringRead(boolean deleted) {
        try (FaultyStore store = FaultyStore.open(oneHeapSegment().build())) {
            int other = deleted ? 1 : 2;
            store.appendMany(1, FULL_COUNT, FULL_LENGTH);
            List<Value> before = values(store.engine, 1);
            List<Value> read = new ArrayList<>();
            store.engine.get(1, StoreCalls.each((sequence, value) -> {
                if (sequence == 0 && deleted) {
                    awaitWrite(reported -> store.engine.delete(1, reported));
                } else if (sequence == 0) {
                    awaitWrite(reported -> store.engine.trim(1, FULL_COUNT, reported));
                }
                if (sequence == 0) {
                    assertThatExceptionOfType(OutOfSpaceException.class)
                            .isThrownBy(() -> store.engine.append(other, bytes(FULL_LENGTH, 99), NO_CALLBACK));
                }
                read.add(Value.of(sequence, copyOf(value)));
            }));
            assertThat(read).isEqualTo(before);
            assertThat(await(store.engine.append(other, bytes(FULL_LENGTH, 99))))
                    .isEqualTo(0);
        }
    }

    /** Checks that the end of a read wakes the flusher to free regions, because no later event might wake it. */
    @Test
    void pinnedRegionsAreFreedAfterReadWithoutWrites() {
        try (FaultyStore store = FaultyStore.open(oneHeapSegment().build())) {
            store.appendMany(1, 4, FULL_LENGTH);
            store.engine.checkpoint();
            store.engine.get(1, StoreCalls.each((sequence, value) -> {
                if (sequence == 0) {
                    awaitWrite(reported -> store.engine.trim(1, 4, reported));
                    Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> thread.getName().startsWith("caravan-flusher"))
                            .forEach(Eventually::awaitWaitingOrDone);
                }
            }));
            Eventually.await(
                    "what was trimmed takes no space",
                    () -> store.engine.stats().heap().usedBytes() == 0);
        }
    }

    /**
     * Checks that trimmed values reappear intact if damage to the trim's frame makes it look like a torn tail. A
     * checkpoint that was interrupted before its publication must not have reused the regions of these values.
     */
    @Test
    void lostTrimRestoresTrimmedValues() throws Exception {
        try (FaultyStore store = FaultyStore.open(oneHeapSegment().build())) {
            store.appendMany(1, 4, FULL_LENGTH);
            store.engine.checkpoint();
            List<Value> before = values(store.engine, 1);
            store.appendMany(2, 4, FULL_LENGTH);
            List<Value> young = values(store.engine, 2);
            awaitWrite(reported -> store.engine.write(
                    WriteBatch.create().append(3, bytes("the last frame")).trimTo(1, 4), reported));
            store.awaitIdleFlusher();
            store.duringCheckpoint(on(Kind.CREATE, FaultyStore.UNFINISHED_CHECKPOINT), () -> {
                MemoryStorage cut = store.disk.powerCut();
                FaultyStore.Place last = store.find(LOG, bytes("the last frame"));
                cut.bytes(last.file()).put(last.offset(), (byte) '-');
                try (FaultyStore opened = FaultyStore.open(store.config, cut)) {
                    assertThat(values(opened.engine, 1)).isEqualTo(before);
                    assertThat(values(opened.engine, 2)).isEqualTo(young);
                    assertThat(opened.engine.info(3)).isNull();
                }
            });
            store.closeAndVerify();
        }
    }

    /** Checks that regions of values trimmed during replay stay in use until the next checkpoint is published. */
    @Test
    void regionsTrimmedByReplayStayUsedUntilCheckpoint() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            store.appendMany(1, 4, FULL_LENGTH);
            store.engine.checkpoint();
            awaitWrite(reported -> store.engine.trim(1, 3, reported));
            try (Recovered recovered = new Recovery(store.disk.powerCut()).recover()) {
                assertThat(recovered.heap().usedBytes()).isEqualTo(4 * EntryLayout.entryBytes(FULL_LENGTH));
                assertThat(recovered.freed().bytes()).isEqualTo(3 * EntryLayout.entryBytes(FULL_LENGTH));
            }
            try (FaultyStore opened = store.afterPowerCut()) {
                assertThat(opened.engine.stats().heap().freeBytes())
                        .as("the opening has published one")
                        .isGreaterThan(FaultyStore.HEAP_SEGMENT_BYTES / 2);
            }
        }
    }
}
