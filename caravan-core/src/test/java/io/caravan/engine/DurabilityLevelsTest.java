package io.caravan.engine;

import static io.caravan.engine.FaultyStore.CHECKPOINT;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.nth;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.Durability;
import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.testing.Completions;
import io.caravan.testing.Completions.Completion;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import java.nio.file.Path;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the work done before a write is acknowledged at each durability level, and the data that survives a crash. */
@LongTimeout
class DurabilityLevelsTest {
    private static final Predicate<Call> FORCES = on(Kind.FORCE, LOG);

    private static FaultyStore open(Durability level) {
        FaultyStore store =
                FaultyStore.open(FaultyStore.small().durability(level).build());
        store.awaitProvisioned();
        store.faults.clearCalls();
        return store;
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void storeNameContainsDurability(Durability level) {
        try (FaultyStore store = open(level)) {
            assertThat(store.engine.stats().name()).contains("(" + level + ")");
        }
    }

    @Test
    void closeReportsFailedFsync() {
        FaultyStore store = FaultyStore.open(
                FaultyStore.small().durability(Durability.PROCESS).build());
        append(store.engine, 1, "a");
        store.faults.fail(on(Kind.FORCE, FaultyStore.LOG));
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(store.engine::close);
        store.engine.close();
    }

    /** Checks that a close fsyncs the log through the flusher's open file if the process can open no more files. */
    @ParameterizedTest
    @EnumSource(
            value = Durability.class,
            names = {"PROCESS", "MEMORY"})
    void closeFsyncsLogIfNoFurtherFileCanBeOpened(Durability level) {
        try (FaultyStore store = open(level)) {
            append(store.engine, 1, "accepted");
            store.faults.fail(on(Kind.OPEN, ".*"), "Too many open files");
            store.engine.close();
            assertThat(store.textsAfterPowerCut(1)).containsExactly("0:accepted");
        }
    }

    @Test
    void processAcknowledgesDuringCheckpointFsync() throws Exception {
        try (FaultyStore store = open(Durability.PROCESS)) {
            append(store.engine, 1, "before");
            store.duringCheckpoint(nth(1, FORCES), () -> append(store.engine, 1, "meanwhile"));
        }
    }

    @Test
    void storeAtProcessFailsPermanentlyAfterFailedLogFsync() {
        FaultyStore store = open(Durability.PROCESS);
        append(store.engine, 1, "a");
        store.faults.fail(nth(1, FORCES));
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(store.engine::checkpoint);
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(() -> append(store.engine, 1, "b"));
        store.engine.close();
    }

    @Test
    void processAcknowledgesWithoutFsync() {
        try (FaultyStore store = open(Durability.PROCESS)) {
            for (int i = 0; i < 20; i++) {
                append(store.engine, 1, "value " + i);
            }
            store.engine.flush();
            assertThat(store.faults.calls(FORCES)).isEmpty();
            assertThat(store.engine.stats().fsyncs()).isZero();
            try (FaultyStore killed = store.afterKill()) {
                assertThat(texts(killed.engine, 1)).hasSize(20);
            }
            assertThat(store.textsAfterPowerCut(1)).isEmpty();
        }
    }

    @Test
    void processAcknowledgesAfterWrite() {
        try (FaultyStore store = open(Durability.PROCESS)) {
            Completions completions = new Completions();
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("a"), completions.callback(1));
                write.awaitReached();
                assertThat(completions.all()).isEmpty();
            }
            assertThat(completions.await(1)).containsExactly(Completion.success(1, 0));
        }
    }

    @Test
    void memoryAcknowledgesBeforeWrite() {
        try (FaultyStore store = open(Durability.MEMORY)) {
            Completions completions = new Completions();
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("a"), completions.callback(1));
                write.awaitReached();
                assertThat(completions.all()).containsExactly(Completion.success(1, 0));
                try (FaultyStore killed = store.afterKill()) {
                    assertThat(texts(killed.engine, 1)).isEmpty();
                }
            }
            assertThat(texts(store.engine, 1)).containsExactly("0:a");
            assertThat(store.faults.calls(FORCES)).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Durability.class,
            names = {"PROCESS", "MEMORY"})
    void checkpointFsyncsLogAndHeap(Durability level) {
        try (FaultyStore store = open(level)) {
            append(store.engine, 1, "a", "b");
            store.engine.checkpoint();
            assertThat(store.faults.calls(FORCES)).isNotEmpty();
            assertThat(store.faults.calls(on(Kind.FORCE, FaultyStore.HEAP))).isNotEmpty();
            append(store.engine, 1, "c");
            assertThat(store.textsAfterPowerCut(1)).containsExactly("0:a", "1:b");
        }
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void cleanCloseKeepsEverything(Durability level) {
        try (FaultyStore store = open(level)) {
            append(store.engine, 1, "a", "b");
            store.engine.append(2, bytes("in flight"), new Completions().callback(1));
            store.engine.close();
            assertThat(store.faults.calls(FORCES)).isNotEmpty();
            assertThat(store.faults.calls(on(Kind.RENAME, CHECKPOINT))).hasSize(1);
            try (FaultyStore cut = store.afterPowerCut()) {
                assertThat(texts(cut.engine, 1)).containsExactly("0:a", "1:b");
                assertThat(texts(cut.engine, 2)).containsExactly("0:in flight");
                cut.closeAndVerify();
            }
        }
    }

    /** Checks that a close keeps everything in the allocated log if the disk has no space for its checkpoint. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void closeOnFullDiskKeepsEverything(Durability level) {
        try (FaultyStore store = open(level)) {
            append(store.engine, 1, "a", "b");
            store.awaitProvisioned();
            store.faults.full(true);
            store.engine.close();
            assertThat(store.textsAfterPowerCut(1)).containsExactly("0:a", "1:b");
        }
    }

    /** Checks that a close publishes no checkpoint if nothing has been written since the last one. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void closingUnchangedStorePublishesNoCheckpoint(Durability level) {
        try (FaultyStore store = open(level)) {
            append(store.engine, 1, "a");
            store.engine.checkpoint();
            store.faults.clearCalls();
            store.engine.close();
            assertThat(store.faults.calls(on(Kind.RENAME, CHECKPOINT))).isEmpty();
        }
    }

    private static WriteBatch batch(Durability level, long id, String text) {
        return WriteBatch.create().append(id, bytes(text)).durability(level);
    }

    @Test
    void weakerBatchIsAcknowledgedWithoutFsync() {
        try (FaultyStore store = open(Durability.SYNC)) {
            await(store.engine.write(batch(Durability.PROCESS, 1, "a")));
            await(store.engine.write(batch(Durability.MEMORY, 1, "b")));
            await(store.engine.write(
                    batch(Durability.PROCESS, 1, "c").append(2, bytes("d")).trimTo(1, 1)));
            assertThat(texts(store.engine, 1)).containsExactly("1:b", "2:c");
            assertThat(store.faults.calls(FORCES)).isEmpty();
            assertThat(store.engine.stats().fsyncs()).isZero();
            try (FaultyStore killed = store.afterKill()) {
                assertThat(texts(killed.engine, 1)).containsExactly("1:b", "2:c");
            }
            assertThat(store.textsAfterPowerCut(1)).isEmpty();
        }
    }

    @Test
    void memoryBatchIsAcknowledgedBeforeWrite() {
        try (FaultyStore store = open(Durability.SYNC)) {
            Completions completions = new Completions();
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.write(batch(Durability.MEMORY, 1, "a"), completions.callback(1));
                write.awaitReached();
                assertThat(completions.all()).containsExactly(Completion.success(1, 0));
            }
        }
    }

    @Test
    void strongerWriteMakesEarlierWritesDurable() {
        try (FaultyStore store = open(Durability.SYNC)) {
            for (int i = 0; i < 20; i++) {
                // The writes span several segments, all of which the one fsync must cover.
                await(store.engine.write(WriteBatch.create()
                        .append(1, bytes(FaultyStore.MAX_VALUE_BYTES, i))
                        .durability(Durability.PROCESS)));
            }
            assertThat(store.faults.calls(FORCES)).isEmpty();
            append(store.engine, 2, "forced");
            try (FaultyStore cut = store.afterPowerCut()) {
                assertThat(cut.engine.read(1)).hasSize(20);
                assertThat(texts(cut.engine, 2)).containsExactly("0:forced");
            }
        }
    }

    @Test
    void writesSharingFlushGetStrongestDurability() {
        try (FaultyStore store = open(Durability.SYNC)) {
            Completions completions = new Completions();
            try (Hold first = store.faults.hold(nth(1, on(Kind.WRITE, LOG)));
                    Hold force = store.faults.hold(nth(1, FORCES))) {
                store.engine.write(batch(Durability.PROCESS, 1, "alone"), completions.callback(1));
                first.awaitReached();
                store.engine.write(batch(Durability.MEMORY, 1, "a"), completions.callback(2));
                store.engine.append(2, bytes("b"), completions.callback(3));
                store.engine.write(batch(Durability.PROCESS, 1, "c"), completions.callback(4));
                first.release();
                force.awaitReached();
                assertThat(completions.all()).containsExactly(Completion.success(1, 0));
            }
            assertThat(completions.await(4))
                    .containsExactly(
                            Completion.success(1, 0),
                            Completion.success(2, 1),
                            Completion.success(3, 0),
                            Completion.success(4, 2));
        }
    }

    @Test
    void flushMakesWeakerWritesAsDurableAsStore() {
        try (FaultyStore store = open(Durability.SYNC)) {
            await(store.engine.write(batch(Durability.MEMORY, 1, "a")));
            store.engine.flush();
            assertThat(store.textsAfterPowerCut(1)).containsExactly("0:a");
        }
    }

    @Test
    void batchIsNeverMoreDurableThanStore() {
        try (FaultyStore store = open(Durability.PROCESS)) {
            await(store.engine.write(batch(Durability.SYNC, 1, "a")));
            assertThat(store.faults.calls(FORCES)).isEmpty();
        }
    }

    @Test
    void limitsBytesAwaitingFsync() {
        try (FaultyStore store = FaultyStore.open(StoreConfig.builder(Path.of("memory"))
                .maxValueBytes(1 << 20)
                .checkpointFloorBytes(1L << 40)
                .build())) {
            store.awaitProvisioned();
            store.faults.clearCalls();
            for (int i = 0; i < 20; i++) {
                await(store.engine.write(
                        WriteBatch.create().append(1, bytes(1 << 20, i)).durability(Durability.PROCESS)));
            }
            assertThat(store.engine.stats().fsyncs()).isBetween(1L, 2L);
        }
    }

    /**
     * Checks that writes acknowledged at a lower level than the store's cannot be read after a failed fsync, which may
     * lose them.
     */
    @Test
    void weakerWritesAreUnreadableAfterFailedFsync() {
        FaultyStore store = open(Durability.SYNC);
        for (int id : new int[] {1, 3, 4}) {
            append(store.engine, id, "forced");
        }
        await(store.engine.write(batch(Durability.PROCESS, 1, "weaker")));
        await(store.engine.write(batch(Durability.PROCESS, 2, "weaker")));
        await(store.engine.write(WriteBatch.create().delete(3).durability(Durability.PROCESS)));
        store.faults.fail(nth(1, FORCES));
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(() -> append(store.engine, 5, "lost"));
        for (int taken : new int[] {1, 2, 3}) {
            assertThatExceptionOfType(StoreFailedException.class).isThrownBy(() -> texts(store.engine, taken));
        }
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(() -> store.engine.forEachList(id -> {}));
        assertThat(texts(store.engine, 4)).containsExactly("0:forced");
        store.engine.close();
    }
}
