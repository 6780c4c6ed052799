package io.caravan.engine;

import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.engine.FaultyStore.UNFINISHED_CHECKPOINT;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CorruptStoreException;
import io.caravan.FlushPolicy;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreIoException;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Checks that a store keeps a part of the log that the disk cannot read, moves all other values to the heap, and
 * accepts writes.
 */
@LongTimeout
class UnreadableLogTest {

    /** Makes the entry with this value unreadable. Returns the name of the file that contains it. */
    private static String makeUnreadable(FaultyStore store, String value) {
        FaultyStore.Place location = store.find(LOG, bytes(value));
        store.faults.unreadable(location.file(), location.offset());
        return location.file();
    }

    private static FaultyStore withUnreadableEntry() {
        FaultyStore store = FaultyStore.open();
        append(store.engine, 1, "before");
        append(store.engine, 1, "in a bad sector");
        append(store.engine, 1, "behind");
        append(store.engine, 2, "of another list");
        String file = makeUnreadable(store, "in a bad sector");
        assertThatExceptionOfType(StoreIoException.class)
                .isThrownBy(store.engine::checkpoint)
                .withMessageContainingAll(
                        file, "offset", "document 1", "sequence 1", "check the disk", "trim or delete");
        return store;
    }

    @Test
    void movesOtherListsAndAcceptsAppendsDespiteUnreadableEntry() {
        try (FaultyStore store = withUnreadableEntry()) {
            assertThat(store.heapBytes()).contains("before", "of another list").doesNotContain("behind");
            for (int i = 0; i < 100; i++) {
                append(store.engine, 3, "goes on");
            }
            assertThat(texts(store.engine, 2)).containsExactly("0:of another list");
            assertThat(texts(store.engine, 1, 2)).containsExactly("2:behind");
            assertThatExceptionOfType(CorruptStoreException.class)
                    .isThrownBy(() -> texts(store.engine, 1))
                    .matches(found -> found.sequence() == 1);
            try (FaultyStore opened = store.afterPowerCut()) {
                assertThat(texts(opened.engine, 1)).containsExactly("0:before", "1:in a bad sector", "2:behind");
                assertThat(texts(opened.engine, 3)).hasSize(100);
            }
        }
    }

    @Test
    void checkpointMovesEntryOnceItIsReadableAgain() {
        try (FaultyStore store = withUnreadableEntry()) {
            store.faults.heal();
            store.engine.checkpoint();
            assertThat(texts(store.engine, 1)).containsExactly("0:before", "1:in a bad sector", "2:behind");
            assertThat(store.heapBytes()).contains("in a bad sector", "behind");
            store.closeAndVerify();
        }
    }

    @Test
    void trimmedUnreadableEntryDoesNotBlockCheckpoint() {
        try (FaultyStore store = withUnreadableEntry()) {
            awaitWrite(reported -> store.engine.trimTo(1, 2, reported));
            store.engine.checkpoint();
            assertThat(store.heapBytes()).contains("behind");
            store.closeAndVerify();
        }
    }

    @Test
    void outOfSpaceErrorNamesUnreadableEntry() {
        try (FaultyStore store = withUnreadableEntry()) {
            store.faults.full(true);
            assertThatExceptionOfType(OutOfSpaceException.class)
                    .isThrownBy(() -> {
                        for (int i = 0; i < 1_000; i++) {
                            awaitWrite(reported -> store.engine.append(3, bytes(4_000, 1), reported));
                        }
                    })
                    .withMessageContainingAll("document 1", "sequence 1", "trim or delete");
        }
    }

    @Test
    void retriesBackOffWithoutWritingFurtherCheckpoints() {
        AtomicLong nanos = new AtomicLong();
        try (FaultyStore store = FaultyStore.open(
                FaultyStore.small().flushPolicy(FlushPolicy.immediate()).build(), new MemoryStorage(), nanos::get)) {
            append(store.engine, 2, "trimmed later");
            store.engine.checkpoint();
            append(store.engine, 1, "in a bad sector");
            makeUnreadable(store, "in a bad sector");
            awaitWrite(reported -> store.engine.trim(2, 1, reported));
            store.awaitIdleFlusher();
            store.faults.clearCalls();
            assertThatExceptionOfType(StoreIoException.class).isThrownBy(store.engine::checkpoint);
            assertThat(store.faults.calls(on(Kind.CREATE, UNFINISHED_CHECKPOINT)))
                    .as("one, which makes free what was trimmed")
                    .hasSize(1);
            long failures = store.engine.stats().failures();
            for (long seconds = 1; seconds < 1_000; seconds = Math.min(2 * seconds, seconds + 64)) {
                long pause = Math.min(seconds, 64);
                nanos.addAndGet(TimeUnit.SECONDS.toNanos(pause) - 1);
                store.awaitIdleCheckpointer();
                assertThat(store.engine.stats().failures())
                        .as("before " + pause + " s")
                        .isEqualTo(failures);
                nanos.addAndGet(1);
                store.awaitIdleCheckpointer();
                assertThat(store.engine.stats().failures())
                        .as("after " + pause + " s")
                        .isEqualTo(++failures);
            }
            assertThat(store.faults.calls(on(Kind.CREATE, UNFINISHED_CHECKPOINT)))
                    .hasSize(1);
        }
    }
}
