package io.caravan.engine;

import static io.caravan.testing.StoreCalls.NOBODY;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore.Group;
import io.caravan.StoreConfig;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Patient;
import io.caravan.testing.Tellings;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Writes that a caller says belong together; time passes only when a test says so. */
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
            long forces = store.engine.stats().forces();
            Group group = store.engine.group();
            for (int i = 0; i < 5; i++) {
                store.engine.append(1, bytes("value"), tellings.callback(i));
                store.awaitIdleFlusher();
            }
            assertThat(tellings.all()).isEmpty();
            group.close();
            tellings.await(5);
            store.awaitIdleFlusher();
            assertThat(store.engine.stats().forces()).isEqualTo(forces + 1);
        }
    }

    @Test
    void aGroupThatIsNeverClosedHoldsWritesUpForAMillisecondAndOnlyOnce() {
        try (FaultyStore store = open()) {
            Group forgotten = store.engine.group();
            store.engine.append(1, bytes("waits"), tellings.callback(1));
            store.awaitIdleFlusher();
            assertThat(tellings.all()).isEmpty();
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
            tellings.await(1);
            store.engine.append(1, bytes("does not wait"), tellings.callback(2));
            tellings.await(2);

            Group next = store.engine.group();
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
            Group first = store.engine.group();
            Group second = store.engine.group();
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
                Group group = store.engine.group()) {
            store.engine.append(1, bytes("value"), tellings.callback(1));
            store.engine.flush();
            assertThat(tellings.all()).hasSize(1);
        }
    }

    @Test
    void aReadDoesNotWaitForAGroupToEnd() {
        try (FaultyStore store = open();
                Group group = store.engine.group()) {
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
                Group group = store.engine.group()) {
            for (int i = 0; i < 17; i++) {
                store.engine.append(1, bytes(FaultyStore.MAX_VALUE_BYTES, i), tellings.callback(i));
            }
            tellings.await(16);
        }
    }

    @Test
    void aGroupThatIsOpenedLaterKeepsNobodyWaiting() {
        try (FaultyStore store = open();
                Group first = store.engine.group()) {
            store.engine.append(1, bytes("of the first"), tellings.callback(1));
            try (Group second = store.engine.group()) {
                store.engine.append(1, bytes("of the second"), tellings.callback(2));
            }
            tellings.await(2);
        }
    }

    @Test
    void closingTheStoreDoesNotWaitForAGroupToEnd() {
        try (FaultyStore store = open();
                Group group = store.engine.group()) {
            store.engine.append(1, bytes("value"), tellings.callback(1));
            store.engine.close();
            assertThat(tellings.all()).hasSize(1);
        }
    }
}
