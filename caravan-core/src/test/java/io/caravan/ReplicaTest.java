package io.caravan;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.fuzz.Reseal;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.Faults;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.ModelLists;
import io.caravan.testing.ModelRun;
import io.caravan.testing.RandomOperations;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreContents;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests replicas of one store: a leader whose frames are recorded, and followers that replay them. */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class ReplicaTest {
    private static final long STORE_ID = 4711;
    private static final RandomOperations.Shape SHAPE =
            new RandomOperations.Shape(12, SmallStore.MAX_VALUE_BYTES, 2 * SmallStore.MAX_VALUE_BYTES);

    @TempDir
    Path directory;

    /** The frames that the leader has replicated, in order. */
    private final List<ByteBuffer> frames = new ArrayList<>();

    private Replica open(String name) {
        return Replica.open(config(name), STORE_ID, 0);
    }

    private StoreConfig config(String name) {
        return heapSegments(name, 32).build();
    }

    private StoreConfig.Builder heapSegments(String name, int kib) {
        return SmallStore.config(directory.resolve(name))
                .durability(Durability.PROCESS)
                .heapSegmentBytes(kib * 1024);
    }

    private Replica openWithLargerBuffers(String name) {
        StoreConfig.Builder larger =
                heapSegments(name, 64).maxValueBytes(16 * 1024).logBufferBytes(24 * 1024);
        return Replica.open(larger.build(), STORE_ID, 0);
    }

    private Replica leader() {
        Replica leader = open("leader");
        leader.lead(into(frames));
        return leader;
    }

    /** Returns a replicator that commits every frame and adds it to the list. */
    private static FrameReplicator into(List<ByteBuffer> list) {
        return frame -> list.add(
                ByteBuffer.allocate(frame.remaining()).put(frame).flip().asReadOnlyBuffer());
    }

    private void append(Replica replica, long id, int length) {
        await(replica.store().append(id, bytes(length, (int) id)));
    }

    @Test
    @Tag("rounds")
    void followersMatchLeaderAfterRandomOperations() {
        Seeds.forEach(Rounds.of(1, 50), seed -> {
            Path place = directory.resolve("seed" + seed);
            ExecutorService followers = Executors.newSingleThreadExecutor();
            try (Replica leader = Replica.open(config(place + "/leader"), STORE_ID, 0);
                    Replica first = Replica.open(config(place + "/first"), STORE_ID, 0);
                    Replica second = Replica.open(config(place + "/second"), STORE_ID, 0)) {
                leader.lead(frame -> await(
                        CompletableFuture.supplyAsync(() -> first.replay(frame) && second.replay(frame), followers)));
                ModelLists model = new ModelLists(SmallStore.MAX_VALUE_BYTES);
                new ModelRun(leader.store(), model, store -> {
                            first.store().checkpoint();
                            return store;
                        })
                        .run(new RandomOperations(seed, SHAPE, model), 2_000);
                for (Replica follower : List.of(first, second)) {
                    follower.fsync();
                    assertThat(follower.position()).isEqualTo(leader.position());
                    assertThat(StoreContents.of(follower.store())).isEqualTo(StoreContents.of(leader.store()));
                    assertThat(follower.store()
                                    .verify(VerifyReport.Progress.NONE)
                                    .faults())
                            .isEmpty();
                }
            } finally {
                followers.shutdown();
            }
        });
    }

    /** Checks that no frame is lost if the flusher processes an fsync request while a frame waits for its segment. */
    @Test
    void fsyncDuringSegmentWaitLosesNoFrame() throws InterruptedException {
        try (Replica leader = leader();
                Replica follower = open("follower")) {
            for (int i = 0; i < 120; i++) {
                append(leader, i % 5, SmallStore.MAX_VALUE_BYTES);
                await(leader.store().trim(i % 5, 1));
            }
            AtomicBoolean done = new AtomicBoolean();
            Thread forcing = new Thread(() -> {
                while (!done.get()) {
                    follower.fsync();
                }
            });
            forcing.start();
            try {
                frames.forEach(follower::replay);
            } finally {
                done.set(true);
                forcing.join();
            }
            follower.fsync();
            assertThat(follower.position()).isEqualTo(leader.position());
            assertThat(StoreContents.of(follower.store())).isEqualTo(StoreContents.of(leader.store()));
        }
    }

    @Test
    void killedFollowerReplaysAllFramesAgain() throws IOException {
        DirectoryImage killed;
        StoreContents contents;
        try (Replica leader = leader();
                Replica follower = open("follower")) {
            for (int i = 0; i < 100; i++) {
                append(leader, i % 7, 10 * i);
            }
            await(leader.store().trim(3, 2));
            await(leader.store().delete(4));
            for (ByteBuffer frame : frames) {
                assertThat(follower.replay(frame)).isTrue();
                if (follower.position() % 5 == 0) {
                    follower.store().checkpoint();
                }
            }
            contents = StoreContents.of(leader.store());
            killed = DirectoryImage.of(directory.resolve("follower"));
        }
        killed.writeTo(directory.resolve("again"));
        try (Replica again = open("again")) {
            for (ByteBuffer frame : frames) {
                again.replay(frame);
            }
            assertThat(StoreContents.of(again.store())).isEqualTo(contents);
            assertThat(again.replay(frames.get(frames.size() - 1))).isFalse();
        }
    }

    @Test
    void followerBecomesLeaderAndOthersFollow() {
        try (Replica second = open("second");
                Replica third = open("third")) {
            try (Replica leader = leader()) {
                append(leader, 1, 100);
                append(leader, 1, 200);
            }
            for (ByteBuffer frame : frames) {
                second.replay(frame);
            }
            second.lead(into(frames));
            append(second, 1, 300);
            append(second, 2, 10);
            for (ByteBuffer frame : frames) {
                third.replay(frame);
            }
            third.fsync();
            assertThat(StoreContents.of(third.store())).isEqualTo(StoreContents.of(second.store()));
            assertThat(third.store().info(1).nextSequence()).isEqualTo(3);
        }
    }

    @Test
    void acknowledgesWriteOnceGroupCommitsIt() throws InterruptedException {
        CountDownLatch proposed = new CountDownLatch(1);
        CompletableFuture<Long> committed = new CompletableFuture<>();
        try (Replica leader = open("leader")) {
            leader.lead(frame -> {
                proposed.countDown();
                await(committed);
            });
            CompletableFuture<Long> written = leader.store().append(1, bytes(5, 1));
            proposed.await();
            assertThat(written).isNotDone();
            committed.complete(1L);
            assertThat(await(written)).isZero();
        }
    }

    @Test
    void uncommittedWriteIsAbsentAfterReopen() {
        Replica leader = open("leader");
        leader.lead(frame -> {
            if (!frames.isEmpty()) {
                throw new IOException("leadership lost");
            }
            into(frames).commit(frame);
        });
        append(leader, 1, 5);
        CompletableFuture<Long> lost = leader.store().append(1, bytes(6, 1));
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(() -> await(lost));
        assertThatExceptionOfType(StoreFailedException.class).isThrownBy(() -> append(leader, 2, 1));
        try {
            leader.close();
        } catch (StoreFailedException known) {
            // The store had already failed.
        }
        try (Replica follower = open("leader")) {
            assertThat(follower.store().info(1).nextSequence()).isEqualTo(1);
            assertThat(follower.store().info(2)).isNull();
            assertThat(follower.replay(frames.get(0))).isFalse();
        }
    }

    @Test
    void followerRejectsWrites() {
        try (Replica follower = open("follower")) {
            ListStore store = follower.store();
            assertThatExceptionOfType(NotLeaderException.class).isThrownBy(() -> await(store.append(1, bytes(1, 1))));
            assertThatExceptionOfType(NotLeaderException.class).isThrownBy(() -> await(store.trim(1, 1)));
            assertThatExceptionOfType(NotLeaderException.class).isThrownBy(() -> await(store.delete(1)));
            assertThatExceptionOfType(NotLeaderException.class)
                    .isThrownBy(() -> await(store.write(WriteBatch.create().delete(1))));
            assertThat(follower.position()).isEqualTo(4096);
        }
    }

    @Test
    void leaderRejectsReplay() {
        try (Replica leader = leader()) {
            append(leader, 1, 1);
            ByteBuffer own = frames.get(0);
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> leader.replay(own));
        }
    }

    @Test
    void rejectsInvalidFramesWithoutChanges() {
        try (Replica leader = leader();
                Replica follower = open("follower")) {
            append(leader, 1, 100);
            append(leader, 1, 200);
            append(leader, 1, 300);
            follower.replay(frames.get(0));

            assertRejected(follower, frames.get(2), "it follows the frame at LSN");
            assertRejected(follower, changed(frames.get(1), 70), "damaged, or of another store");
            assertRejected(follower, changed(frames.get(1), FrameLayout.STORE_ID), "damaged, or of another store");
            assertRejected(follower, frames.get(1).slice(0, 20), "shorter than its header");
            assertRejected(follower, frames.get(1).slice(0, frames.get(1).limit() - 8), "damaged, or of another store");
            assertRejected(follower, changed(frames.get(1), FrameLayout.LSN), "no space");
            assertThat(follower.replay(frames.get(0))).as("it has that one").isFalse();
            assertThat(follower.store().info(1).nextSequence()).isEqualTo(1);

            assertThat(follower.replay(frames.get(1))).isTrue();
            assertThat(follower.replay(frames.get(2))).isTrue();
            assertThat(StoreContents.of(follower.store())).isEqualTo(StoreContents.of(leader.store()));
        }
    }

    /** Checks the replay of a frame that skipped to the next segment to leave space for trims of missing lists. */
    @Test
    void replaysFrameThatSkippedToNextSegment() {
        try (Replica leader = leader();
                Replica follower = open("follower")) {
            while (leader.position() % (8 * 4096) != 7 * 4096) {
                append(leader, 1, 10);
            }
            long before = leader.position();
            WriteBatch batch = WriteBatch.create();
            for (int i = 0; i < 300; i++) {
                batch.trimTo(1_000 + i, 1);
            }
            await(leader.store().write(batch.append(1, bytes(10, 1))));
            assertThat(leader.position()).isEqualTo(before + 3 * 4096);
            frames.forEach(follower::replay);
            follower.fsync();
            assertThat(follower.position()).isEqualTo(leader.position());
            assertThat(StoreContents.of(follower.store())).isEqualTo(StoreContents.of(leader.store()));
        }
    }

    /** Checks that a follower rejects a former leader's frame at the LSN of a frame of the next leader. */
    @Test
    void rejectsLeftoverFrameOfFormerLeader() {
        List<ByteBuffer> leftovers = new ArrayList<>();
        try (Replica leader = leader();
                Replica former = open("former")) {
            former.lead(into(leftovers));
            append(former, 9, 10);
            append(leader, 1, 10);
            try (Replica follower = open("follower")) {
                follower.replay(frames.get(0));
                follower.fsync();
                assertPlaceTaken(follower, leftovers.get(0), "the log has another frame there");
                assertThat(follower.store().info(9)).isNull();
            }
        }
    }

    @Test
    void fsyncReturnsFollowerPosition() {
        try (Replica leader = leader();
                Replica follower = open("follower")) {
            append(leader, 1, 100);
            append(leader, 2, 5000 % SmallStore.MAX_VALUE_BYTES);
            frames.forEach(follower::replay);
            assertThat(follower.fsync()).isEqualTo(follower.position());
        }
    }

    @Test
    void rejectsDirectoryOfAnotherStore() {
        DurableListStore.open(config("other")).close();
        DirectoryImage before = DirectoryImage.of(directory.resolve("other"));
        assertThatExceptionOfType(StoreDirectoryException.class)
                .isThrownBy(() -> open("other"))
                .withMessageContaining("not a replica of 1267");
        assertThat(DirectoryImage.of(directory.resolve("other")).differences(before))
                .isEmpty();
    }

    /** Checks recovery if a power cut has lost an unfsynced frame, but not the frames after it. */
    @Test
    void recoversFromPowerCutThatLostUnfsyncedFrame() throws IOException {
        try (Replica leader = leader()) {
            DirectoryImage whole;
            long forced;
            try (Replica follower = open("follower")) {
                for (int i = 0; i < 8; i++) {
                    append(leader, 1, 100 + i);
                    follower.replay(frames.get(i));
                }
                forced = follower.fsync();
                whole = DirectoryImage.of(directory.resolve("follower"));
            }
            long lost = frames.get(5).slice().order(ByteOrder.LITTLE_ENDIAN).getLong(FrameLayout.LSN);
            LogGeometry geometry = new LogGeometry(config("cut").logSegmentBytes());
            whole.withFlip(
                            FileNames.LOG.of(geometry.segmentOf(lost)),
                            geometry.offsetOf(lost) + FrameLayout.HEADER_BYTES)
                    .writeTo(directory.resolve("cut"));
            assertThatExceptionOfType(CorruptStoreException.class)
                    .as("it was forced, so no power cut took it")
                    .isThrownBy(() -> Replica.open(config("cut"), STORE_ID, forced))
                    .withMessageContaining("LSN " + lost + ": no valid frame");
            assertThat(faults(forced)).isNotEmpty();
            assertThat(faults(lost)).as("the node receives it again").isEmpty();
            try (Replica cut = Replica.open(config("cut"), STORE_ID, lost)) {
                assertThat(cut.position()).isEqualTo(lost);
                append(leader, 2, 10);
                frames.forEach(cut::replay);
                assertThat(StoreContents.of(cut.store())).isEqualTo(StoreContents.of(leader.store()));
            }
            assertThat(Faults.of(directory.resolve("cut"))).isEmpty();
        }
    }

    private List<CaravanException> faults(long forcedLsn) {
        return Replica.verify(directory.resolve("cut"), forcedLsn, VerifyReport.Progress.NONE)
                .faults();
    }

    @Test
    void requiresProcessDurability() {
        StoreConfig config = SmallStore.config(directory.resolve("sync")).build();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Replica.open(config, STORE_ID, 0))
                .withMessageContaining("durability PROCESS");
    }

    /** Checks that a leftover frame is reported even if it is longer than the new frame at its position. */
    @Test
    void reportsTakenPositionForLongerLeftover() {
        List<ByteBuffer> leftovers = new ArrayList<>();
        try (Replica leader = leader();
                Replica former = open("former");
                Replica follower = open("follower")) {
            former.lead(into(leftovers));
            await(former.store()
                    .write(WriteBatch.create()
                            .append(9, bytes(SmallStore.MAX_VALUE_BYTES, 1))
                            .append(9, bytes(SmallStore.MAX_VALUE_BYTES, 2))));
            append(leader, 1, 10);
            follower.replay(frames.get(0));
            assertPlaceTaken(follower, leftovers.get(0), "but the last here is at");
        }
    }

    /** Checks that a follower replays large frames if the leader has larger buffers, but not larger log segments. */
    @Test
    void followerReplaysFramesLargerThanItsBuffers() {
        StoreConfig smaller = heapSegments("follower", 64).build();
        try (Replica leader = openWithLargerBuffers("leader");
                Replica follower = Replica.open(smaller, STORE_ID, 0)) {
            leader.lead(into(frames));
            for (int i = 0; i < 6; i++) {
                append(leader, 1, i % 2 == 0 ? 16 * 1024 : 7);
            }
            assertThat(frames).anyMatch(frame -> frame.limit() > smaller.logBufferBytes());
            for (ByteBuffer frame : frames) {
                assertThat(follower.replay(frame)).isTrue();
            }
            follower.store().checkpoint();
            assertThat(StoreContents.of(follower.store())).isEqualTo(StoreContents.of(leader.store()));
            follower.lead(frame -> {});
            assertThatExceptionOfType(ValueTooLargeException.class)
                    .as("what it takes from clients is its own")
                    .isThrownBy(() -> append(follower, 2, SmallStore.MAX_VALUE_BYTES + 1));
            append(follower, 2, SmallStore.MAX_VALUE_BYTES);
        }
        try (Replica again = Replica.open(smaller, STORE_ID, 0)) {
            assertThat(again.store().info(1).nextSequence()).isEqualTo(6);
            assertThat(again.store().verify(VerifyReport.Progress.NONE).faults())
                    .isEmpty();
        }
    }

    @Test
    void rejectsValueLargerThanHeapSegment() {
        StoreConfig smaller = heapSegments("follower", 12).build();
        try (Replica leader = openWithLargerBuffers("leader");
                Replica follower = Replica.open(smaller, STORE_ID, 0)) {
            leader.lead(into(frames));
            append(leader, 1, 16 * 1024);
            assertRejected(follower, frames.get(0), "no space for a value of 16384 bytes");
        }
    }

    /** Returns a copy of {@code frame} that claims to follow {@code previous}. */
    private static ByteBuffer following(ByteBuffer previous, ByteBuffer frame) {
        ByteBuffer forged = ByteBuffer.allocate(frame.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        forged.put(0, frame, 0, frame.remaining());
        int crc = previous.slice().order(ByteOrder.LITTLE_ENDIAN).getInt(FrameLayout.CRC);
        forged.putInt(FrameLayout.PREVIOUS_CRC, crc);
        Reseal.frame(forged, 0);
        return forged;
    }

    /** Checks that a replica whose list has one more value than the leader's fails instead of skipping the frame. */
    @Test
    void contradictoryFrameFailsReplica() throws IOException {
        try (Replica leader = leader()) {
            append(leader, 1, 10);
            append(leader, 2, 10);
        }
        List<ByteBuffer> others = new ArrayList<>();
        try (Replica other = open("other")) {
            other.lead(into(others));
            append(other, 2, 10);
        }
        try (Replica differs = open("differs")) {
            differs.replay(others.get(0));
            differs.fsync();
            assertThatExceptionOfType(FrameRejectedException.class)
                    .isThrownBy(() -> differs.replay(frames.get(1)))
                    .withMessageContaining("the frame before it, at LSN 4096, is another one here")
                    .matches(rejected -> !rejected.placeTaken());
            ByteBuffer forged = following(others.get(0), frames.get(1));
            assertThatExceptionOfType(FrameRejectedException.class)
                    .isThrownBy(() -> differs.replay(forged))
                    .withMessageContaining("the replicas differ")
                    .matches(rejected -> !rejected.placeTaken());
            assertThatExceptionOfType(StoreFailedException.class).isThrownBy(() -> differs.replay(forged));
        }
        try (Replica again = open("differs")) {
            assertThat(again.position()).as("nothing of it was written").isEqualTo(2 * 4096);
        }
    }

    private static void assertRejected(Replica replica, ByteBuffer frame, String why) {
        assertRejected(replica, frame, why, false);
    }

    private static void assertPlaceTaken(Replica replica, ByteBuffer frame, String why) {
        assertRejected(replica, frame, why, true);
    }

    private static void assertRejected(Replica replica, ByteBuffer frame, String why, boolean placeTaken) {
        long position = replica.position();
        assertThatExceptionOfType(FrameRejectedException.class)
                .isThrownBy(() -> replica.replay(frame))
                .withMessageContaining(why)
                .matches(rejected -> rejected.placeTaken() == placeTaken, "place taken: " + placeTaken);
        assertThat(replica.position()).isEqualTo(position);
    }

    private static ByteBuffer changed(ByteBuffer frame, int at) {
        ByteBuffer copy = ByteBuffer.allocate(frame.limit()).order(ByteOrder.LITTLE_ENDIAN);
        copy.put(0, frame, 0, frame.limit());
        return copy.put(at, (byte) (copy.get(at) ^ 4));
    }
}
