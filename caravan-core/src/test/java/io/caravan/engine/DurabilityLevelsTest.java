package io.caravan.engine;

import static io.caravan.engine.FaultyStore.CHECKPOINT;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.nth;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.Durability;
import io.caravan.StoreFailedException;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.Patient;
import io.caravan.testing.Tellings;
import io.caravan.testing.Tellings.Telling;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What each level does before it acknowledges, and what survives. */
@Patient
class DurabilityLevelsTest {
    private static final Predicate<Call> FORCES = on(Kind.FORCE, LOG);

    private static FaultyStore open(Durability level) {
        FaultyStore store =
                FaultyStore.open(FaultyStore.small().durability(level).build());
        store.awaitProvisioned();
        store.faults.forgetCalls();
        return store;
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void theLevelIsInTheName(Durability level) {
        try (FaultyStore store = open(level)) {
            assertThat(store.engine.stats().name()).contains("(" + level + ")");
        }
    }

    @Test
    void closingSaysWhenItsForceFails() {
        FaultyStore store = FaultyStore.open(
                FaultyStore.small().durability(Durability.PROCESS).build());
        append(store.engine, 1, "a");
        store.faults.fail(on(Kind.FORCE, FaultyStore.LOG));
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(store.engine::close);
        store.engine.close();
    }

    @Test
    void syncForcesOnceForEachFlush() {
        try (FaultyStore store = open(Durability.SYNC)) {
            for (int i = 0; i < 5; i++) {
                append(store.engine, 1, "value " + i);
            }
            assertThat(store.faults.calls(FORCES)).hasSize(5);
        }
    }

    @Test
    void processAcknowledgesWhileACheckpointGivesTheLogToTheDisk() throws Exception {
        try (FaultyStore store = open(Durability.PROCESS)) {
            append(store.engine, 1, "before");
            Hold writeBack = store.faults.hold(nth(1, FORCES));
            FutureTask<Void> checkpoint = new FutureTask<>(store.engine::checkpoint, null);
            new Thread(checkpoint).start();
            writeBack.awaitReached();
            append(store.engine, 1, "meanwhile");
            writeBack.release();
            checkpoint.get();
        }
    }

    @Test
    void processFailsForGoodWhenTheDiskRefusesTheLog() {
        FaultyStore store = open(Durability.PROCESS);
        append(store.engine, 1, "a");
        store.faults.fail(nth(1, FORCES));
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(store.engine::checkpoint);
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(() -> append(store.engine, 1, "b"));
        store.engine.close();
    }

    @Test
    void processWritesAndNeverForcesBeforeItAcknowledges() {
        try (FaultyStore store = open(Durability.PROCESS)) {
            for (int i = 0; i < 20; i++) {
                append(store.engine, 1, "value " + i);
            }
            store.engine.flush();
            assertThat(store.faults.calls(FORCES)).isEmpty();
            assertThat(store.engine.stats().forces()).isZero();
            try (FaultyStore killed = store.afterKill()) {
                assertThat(texts(killed.engine, 1)).hasSize(20);
            }
            try (FaultyStore cut = store.afterPowerCut()) {
                assertThat(texts(cut.engine, 1)).isEmpty();
            }
        }
    }

    @Test
    void processAcknowledgesAfterTheWrite() {
        try (FaultyStore store = open(Durability.PROCESS)) {
            Tellings tellings = new Tellings();
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("a"), tellings.callback(1));
                write.awaitReached();
                assertThat(tellings.all()).isEmpty();
            }
            assertThat(tellings.await(1)).containsExactly(Telling.success(1, 0));
        }
    }

    @Test
    void noneAcknowledgesBeforeTheWrite() {
        try (FaultyStore store = open(Durability.NONE)) {
            Tellings tellings = new Tellings();
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("a"), tellings.callback(1));
                write.awaitReached();
                assertThat(tellings.all()).containsExactly(Telling.success(1, 0));
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
            names = {"PROCESS", "NONE"})
    void aCheckpointForcesLogAndHeapAndMakesAllOfItDurable(Durability level) {
        try (FaultyStore store = open(level)) {
            append(store.engine, 1, "a", "b");
            store.engine.checkpoint();
            assertThat(store.faults.calls(FORCES)).isNotEmpty();
            assertThat(store.faults.calls(on(Kind.FORCE, FaultyStore.HEAP))).isNotEmpty();
            append(store.engine, 1, "c");
            try (FaultyStore cut = store.afterPowerCut()) {
                assertThat(texts(cut.engine, 1)).containsExactly("0:a", "1:b");
                cut.closeAndVerify();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void aCleanCloseKeepsEverything(Durability level) {
        try (FaultyStore store = open(level)) {
            append(store.engine, 1, "a", "b");
            store.engine.append(2, bytes("in flight"), new Tellings().callback(1));
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

    /** The checkpoint finds no room, but the log has its space already. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void aCloseOnAFullDiskKeepsEverythingToo(Durability level) {
        try (FaultyStore store = open(level)) {
            append(store.engine, 1, "a", "b");
            store.awaitProvisioned();
            store.faults.full(true);
            store.engine.close();
            try (FaultyStore cut = store.afterPowerCut()) {
                assertThat(texts(cut.engine, 1)).containsExactly("0:a", "1:b");
                cut.closeAndVerify();
            }
        }
    }

    /** Nothing was written since the last checkpoint, so there is nothing to force and nothing to publish. */
    @ParameterizedTest
    @EnumSource(Durability.class)
    void closingAnUnchangedStorePublishesNothing(Durability level) {
        try (FaultyStore store = open(level)) {
            append(store.engine, 1, "a");
            store.engine.checkpoint();
            store.faults.forgetCalls();
            store.engine.close();
            assertThat(store.faults.calls(on(Kind.RENAME, CHECKPOINT))).isEmpty();
        }
    }

    /** Reads come from the log, which nobody has forced. */
    @Test
    void withoutForcesWhatIsAcknowledgedIsReadAllTheSame() {
        try (FaultyStore store = open(Durability.PROCESS)) {
            append(store.engine, 1, "in the log");
            assertThat(texts(store.engine, 1)).containsExactly("0:in the log");
            assertThat(store.faults.calls(FORCES)).isEmpty();
        }
    }
}
