package io.caravan.engine;

import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreContents;
import io.caravan.wal.LogGeometry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * Invariant 5: the LSN of a frame is its byte position in the log. Old frames of a recycled segment, and frames of
 * another store, are never accepted as new ones.
 */
@LongTimeout
class Invariant05RecycledFramesNeverPassTest {
    private static final LogGeometry GEOMETRY = new LogGeometry(FaultyStore.LOG_SEGMENT_BYTES);
    private static final long LSN = GEOMETRY.firstFrame(7);
    private static final long STORE = 0x5EED;

    private static ByteBuffer segmentWithAFrame() {
        ByteBuffer frame = ByteBuffer.allocate(Blocks.BLOCK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        frame.put(FrameLayout.HEADER_BYTES, bytes("sixteen bytes it"));
        FrameLayout.seal(frame, FrameLayout.MAGIC_VALUE, STORE, LSN, 1, Link.NONE, 16, 1);
        ByteBuffer segment = ByteBuffer.allocate(GEOMETRY.segmentBytes()).order(ByteOrder.LITTLE_ENDIAN);
        segment.put(GEOMETRY.offsetOf(LSN), frame.array());
        return segment;
    }

    @Test
    void frameIsValidAtItsOwnPosition() {
        assertThat(FrameLayout.valid(segmentWithAFrame(), GEOMETRY.offsetOf(LSN), STORE, LSN))
                .isTrue();
    }

    @Test
    void frameIsInvalidAtAnotherPosition() {
        ByteBuffer segment = segmentWithAFrame();
        int at = GEOMETRY.offsetOf(LSN);
        segment.put(at + Blocks.BLOCK_BYTES, segment, at, Blocks.BLOCK_BYTES);
        long copyLsn = LSN + Blocks.BLOCK_BYTES;
        assertThat(FrameLayout.valid(segment, at + Blocks.BLOCK_BYTES, STORE, copyLsn))
                .isFalse();
    }

    @Test
    void frameIsInvalidInRecycledSegment() {
        assertThat(FrameLayout.valid(segmentWithAFrame(), GEOMETRY.offsetOf(LSN), STORE, GEOMETRY.firstFrame(9)))
                .isFalse();
    }

    @Test
    void frameOfAnotherStoreIsInvalid() {
        assertThat(FrameLayout.valid(segmentWithAFrame(), GEOMETRY.offsetOf(LSN), 0xBAD, LSN))
                .isFalse();
    }

    /** Checks that a frame with a changed LSN or store id is rejected, because its checksum covers both fields. */
    @Test
    void checksumCoversLsnAndStoreId() {
        int at = GEOMETRY.offsetOf(LSN);
        for (int field : new int[] {FrameLayout.LSN, FrameLayout.STORE_ID}) {
            ByteBuffer segment = segmentWithAFrame();
            segment.putLong(at + field, segment.getLong(at + field) + 1);
            assertThat(FrameLayout.valid(
                            segment,
                            at,
                            segment.getLong(at + FrameLayout.STORE_ID),
                            segment.getLong(at + FrameLayout.LSN)))
                    .isFalse();
        }
    }

    /** Cuts the power repeatedly between writes, and checks that no old frames of any kind are replayed. */
    @Test
    void neverReplaysOldFramesAfterEndOfLog() {
        Predicate<Call> recycling = on(Kind.RENAME, LOG)
                .and(call -> call.file().matches(LOG) && call.newName().matches(LOG));
        int cutsBeforeOldFrames = 0;
        try (FaultyStore store = FaultyStore.open()) {
            for (int i = 0; i < 120; i++) {
                append(store.engine, i % 4, "turn " + i + "x".repeat(i * 37 % 3000));
                awaitWrite(reported -> store.engine.trim(3, 1, reported));
                if (i % 10 == 9) {
                    int turn = i;
                    awaitWrite(reported -> store.engine.trimTo(turn % 4, turn / 8, reported));
                    store.engine.checkpoint();
                    store.awaitProvisioned();
                }
                StoreContents expected = StoreContents.of(store.engine);
                cutsBeforeOldFrames += oldFramesAfterEnd(store.disk.powerCut()) > 0 ? 1 : 0;
                try (FaultyStore cut = store.afterPowerCut()) {
                    assertThat(StoreContents.of(cut.engine)).isEqualTo(expected);
                    append(cut.engine, 9, "goes on behind the old frames");
                    try (FaultyStore again = cut.afterPowerCut()) {
                        assertThat(StoreContents.of(again.engine)).isEqualTo(StoreContents.of(cut.engine));
                    }
                }
            }
            Eventually.await(
                    "a segment is recycled",
                    () -> !store.faults.calls(recycling).isEmpty());
        }
        assertThat(cutsBeforeOldFrames).as("the test met what it is about").isGreaterThan(20);
    }

    /** Returns the number of frames, recognized by their magic, that are not at the position that their LSN states. */
    private static int oldFramesAfterEnd(MemoryStorage disk) {
        List<Long> old = new ArrayList<>();
        for (String name : FaultyStore.files(disk, LOG)) {
            long segment = FileNames.LOG.number(name).orElseThrow();
            ByteBuffer bytes = disk.bytes(name);
            for (int at = Blocks.BLOCK_BYTES; at < bytes.capacity(); at += Blocks.BLOCK_BYTES) {
                if (FrameLayout.magicAt(bytes, at)
                        && bytes.getLong(at + FrameLayout.LSN) != GEOMETRY.startOf(segment) + at) {
                    old.add(GEOMETRY.startOf(segment) + at);
                }
            }
        }
        return old.size();
    }
}
