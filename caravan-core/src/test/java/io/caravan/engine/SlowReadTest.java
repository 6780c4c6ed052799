package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.StoreConfig;
import io.caravan.format.Region;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.StoreCalls;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests reads whose stream is so slow that the log grows far beyond the entries to read. */
@LongTimeout
class SlowReadTest {
    /** A segment size that does not divide the range of positions that a region can distinguish. */
    private static final int LOG_SEGMENT_BYTES = 20 * 1024;

    /** Half of the range of positions that a region can distinguish. */
    private static final long HALF_RANGE = Region.ADDRESS_LIMIT / 2;

    private static final int LIST = 1;
    private static final int OTHER = 2;

    @Test
    void readContinuesAfterLogHasGrownByTebibyte() {
        StoreConfig config =
                FaultyStore.small().logSegmentBytes(LOG_SEGMENT_BYTES).build();
        try (FaultyStore store = FaultyStore.open(config)) {
            byte[] twoBlocks = bytes(FaultyStore.MAX_VALUE_BYTES, LIST);
            append(store.engine, LIST, "one block");
            await(store.engine.append(LIST, twoBlocks));
            List<byte[]> read = new ArrayList<>();
            store.engine.get(LIST, StoreCalls.each((sequence, value) -> {
                read.add(StoreCalls.copyOf(value));
                if (sequence == 0) {
                    recycleFirstSegment(store);
                    // No test can write this much, so only the position advances.
                    store.engine.state.committed.advance(store.engine.position() + HALF_RANGE);
                }
            }));
            assertThat(read).containsExactly(bytes("one block"), twoBlocks);
        }
    }

    /** Writes and checkpoints until the log no longer has its first segment, whose values are then in the heap. */
    private static void recycleFirstSegment(FaultyStore store) {
        while (store.engine.state.log.first() == 0) {
            store.appendMany(OTHER, 10, FaultyStore.MAX_VALUE_BYTES);
            await(store.engine.trim(OTHER, 10));
            store.engine.checkpoint();
            store.awaitProvisioned();
        }
    }
}
