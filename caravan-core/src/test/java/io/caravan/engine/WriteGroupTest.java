package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Patient;
import io.caravan.testing.Tellings;
import org.junit.jupiter.api.Test;

/** Writes that a caller says belong together. */
@Patient
class WriteGroupTest {

    @Test
    void aGroupIsForcedWhenItEndsAndOnce() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "before");
            store.awaitIdleFlusher();
            long forces = store.engine.stats().forces();
            Tellings tellings = new Tellings();
            store.engine.beginGroup();
            for (int i = 0; i < 5; i++) {
                store.engine.append(1, bytes("value"), tellings.callback(i));
                store.awaitIdleFlusher();
            }
            assertThat(tellings.all()).isEmpty();
            store.engine.endGroup();
            tellings.await(5);
            store.awaitIdleFlusher();
            assertThat(store.engine.stats().forces()).isEqualTo(forces + 1);
        }
    }

    @Test
    void aFlushDoesNotWaitForAGroupToEnd() {
        try (FaultyStore store = FaultyStore.open()) {
            Tellings tellings = new Tellings();
            store.engine.beginGroup();
            store.engine.append(1, bytes("value"), tellings.callback(1));
            store.engine.flush();
            assertThat(tellings.all()).hasSize(1);
        }
    }

    @Test
    void aGroupThatHasGatheredMuchIsNotWaitedFor() {
        try (FaultyStore store = FaultyStore.open(FaultyStore.small()
                .logBufferBytes(256 * 1024)
                .logSegmentBytes(512 * 1024)
                .heapSegmentBytes(512 * 1024)
                .build())) {
            Tellings tellings = new Tellings();
            store.engine.beginGroup();
            for (int i = 0; i < 17; i++) {
                store.engine.append(1, bytes(FaultyStore.MAX_VALUE_BYTES, i), tellings.callback(i));
            }
            tellings.await(16);
            store.engine.endGroup();
        }
    }

    @Test
    void aGroupThatIsBegunLaterKeepsNobodyWaiting() {
        try (FaultyStore store = FaultyStore.open()) {
            Tellings tellings = new Tellings();
            store.engine.beginGroup();
            store.engine.append(1, bytes("of the first"), tellings.callback(1));
            store.engine.beginGroup();
            store.engine.append(1, bytes("of the second"), tellings.callback(2));
            store.engine.endGroup();
            tellings.await(2);
            store.engine.endGroup();
        }
    }

    @Test
    void closingDoesNotWaitForAGroupToEnd() {
        Tellings tellings = new Tellings();
        try (FaultyStore store = FaultyStore.open()) {
            store.engine.beginGroup();
            store.engine.append(1, bytes("value"), tellings.callback(1));
            store.engine.close();
            assertThat(tellings.all()).hasSize(1);
            store.engine.endGroup();
        }
    }
}
