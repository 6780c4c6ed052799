package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.caravan.BackupReport;
import io.caravan.CorruptStoreException;
import io.caravan.Durability;
import io.caravan.Replica;
import io.caravan.SnapshotInstaller;
import io.caravan.StoreConfig;
import io.caravan.cluster.AppliedIndex.Applied;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.fuzz.Reseal;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.StoreContents;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of received snapshots, which replace the node's store or are rejected, and of replayed frames. */
final class GroupReplicaTest {
    private static final long LIST = 7;

    @TempDir
    Path directory;

    private GroupConfig config;
    private AppliedIndex mark;
    private Replica leader;
    private GroupReplica follower;
    /**
     * The committed frames of the leader. Each append waits for the previous one, so each frame contains one append.
     */
    private final List<ByteBuffer> frames = new CopyOnWriteArrayList<>();

    @BeforeEach
    void openLeaderAndLaggingFollower() throws IOException {
        try (Group group = new Group(directory)) {
            config = group.config("a", GroupConfig.Start.CREATE);
        }
        Files.createDirectories(config.raftDirectory());
        mark = new AppliedIndex(config.raftDirectory());
        follower = new GroupReplica(config, mark, () -> false);
        leader = Replica.open(store("leader"), config.storeId(), 0);
        leader.lead(frame -> frames.add(copyOf(frame)));
        for (int i = 0; i < 20; i++) {
            append(i);
        }
    }

    @AfterEach
    void close() {
        leader.close();
        follower.close();
    }

    private StoreConfig store(String name) {
        return SmallStore.config(directory.resolve(name))
                .durability(Durability.PROCESS)
                .build();
    }

    private static ByteBuffer copyOf(ByteBuffer frame) {
        return ByteBuffer.wrap(StoreCalls.copyOf(frame));
    }

    private void append(int i) {
        await(leader.store().append(LIST, bytes(SmallStore.MAX_VALUE_BYTES / 2, i)));
    }

    private Path received(Replica from) throws IOException {
        Path incoming = follower.beginIncoming();
        try (SnapshotInstaller copy = SnapshotInstaller.begin(incoming)) {
            from.send(copy::receive, BackupReport.Progress.NONE);
            copy.finish();
        }
        return incoming;
    }

    private static Applied entry(long endLsn) {
        return new Applied(TermIndex.valueOf(3, 300), endLsn);
    }

    private void assertStillEmpty() {
        assertThat(StoreContents.of(follower.now().store()).lists()).isEmpty();
        assertThat(mark.durable()).isNull();
    }

    @Test
    void installsSnapshotAndRecordsAppliedIndex() throws IOException {
        long end = leader.fsync();
        follower.install(received(leader), entry(end));
        assertThat(StoreContents.of(follower.now().store())).isEqualTo(StoreContents.of(leader.store()));
        assertThat(new AppliedIndex(config.raftDirectory()).durable()).isEqualTo(entry(end));
        mark.applied(TermIndex.valueOf(3, 200), 100);
        mark.forced(end);
        assertThat(mark.durable()).isEqualTo(entry(end));
    }

    @Test
    void replaysFramesAfterSnapshot() throws IOException {
        long end = leader.fsync();
        follower.install(received(leader), entry(end));
        for (int i = 20; i < 23; i++) {
            append(i);
            assertThat(follower.replay("with value " + i, framed(frames.get(i))))
                    .isTrue();
            assertThat(StoreContents.of(follower.now().store())).isEqualTo(StoreContents.of(leader.store()));
        }
    }

    @Test
    void rejectsSnapshotWithoutDeclaredFrame() throws IOException {
        Path received = received(leader);
        append(20);
        long end = leader.fsync();
        assertThatIOException()
                .isThrownBy(() -> follower.install(received, entry(end)))
                .withMessageContaining("would lose writes");
        assertStillEmpty();
    }

    @Test
    void rejectsSnapshotWithoutLocalFrame() throws IOException {
        long end = leader.fsync();
        follower.install(received(leader), entry(end));
        try (Replica behind = Replica.open(store("behind"), config.storeId(), 0)) {
            assertThatIOException()
                    .isThrownBy(() -> follower.install(received(behind), entry(1)))
                    .withMessageContaining("would lose writes");
        }
        assertThat(mark.durable()).isEqualTo(entry(end));
        assertThat(StoreContents.of(follower.now().store())).isEqualTo(StoreContents.of(leader.store()));
    }

    @Test
    void rejectsDamagedSnapshot() throws IOException {
        leader.store().checkpoint();
        long end = leader.fsync();
        Path received = received(leader);
        try (Stream<Path> files = Files.list(received)) {
            for (Path file :
                    files.filter(any -> any.toString().endsWith(".dat")).toList()) {
                byte[] bytes = Files.readAllBytes(file);
                bytes[6000] ^= 1;
                Files.write(file, bytes);
            }
        }
        assertThatIOException()
                .isThrownBy(() -> follower.install(received, entry(end)))
                .withMessageContaining("is damaged");
        assertStillEmpty();
    }

    @Test
    void rejectsSnapshotOfAnotherGroup() throws IOException {
        long other = UUID.randomUUID().getMostSignificantBits();
        try (Replica foreign = Replica.open(store("foreign"), other, 0)) {
            assertThatIOException()
                    .isThrownBy(() -> follower.install(received(foreign), entry(1)))
                    .withMessageContaining("is not a store of this group");
        }
        assertStillEmpty();
    }

    /**
     * Replays all frames on the follower, but leaves its applied index at the frame of value 10. Returns a copy of the
     * open store's files.
     */
    private DirectoryImage markedUpToTheTenth() throws IOException {
        for (int i = 0; i < frames.size(); i++) {
            follower.replay("with value " + i, framed(frames.get(i)));
            if (i == 10) {
                mark.applied(TermIndex.valueOf(1, i), FrameEntry.endLsn(frames.get(i)));
                mark.forced(follower.now().fsync());
            }
        }
        follower.now().fsync();
        return DirectoryImage.of(config.store().directory());
    }

    /** Returns the files with one damaged byte in this frame, as if the frame had been lost in a power failure. */
    private DirectoryImage without(int frame, DirectoryImage files) {
        long lsn = frames.get(frame).slice().order(ByteOrder.LITTLE_ENDIAN).getLong(FrameLayout.LSN);
        LogGeometry geometry = new LogGeometry(config.store().logSegmentBytes());
        return files.withFlip(
                FileNames.LOG.of(geometry.segmentOf(lsn)), geometry.offsetOf(lsn) + FrameLayout.HEADER_BYTES + 3);
    }

    private GroupReplica startWith(DirectoryImage files) throws IOException {
        follower.close();
        Path store = config.store().directory();
        Files.move(store, directory.resolve("before the cut"));
        files.writeTo(store);
        return new GroupReplica(config, new AppliedIndex(config.raftDirectory()), () -> false);
    }

    @Test
    void replaysFrameLostAfterAppliedIndex() throws IOException {
        follower = startWith(without(14, markedUpToTheTenth()));
        assertThat(follower.now().position()).isLessThan(leader.position());
        for (int i = 11; i < frames.size(); i++) {
            assertThat(follower.replay("with value " + i, framed(frames.get(i))))
                    .isTrue();
        }
        assertThat(StoreContents.of(follower.now().store())).isEqualTo(StoreContents.of(leader.store()));
    }

    @Test
    void reportsFrameLostBeforeAppliedIndexAsDamage() throws IOException {
        DirectoryImage damaged = without(6, markedUpToTheTenth());
        assertThatExceptionOfType(CorruptStoreException.class)
                .isThrownBy(() -> startWith(damaged))
                .withMessageContaining("though the log continues");
        assertThat(DirectoryImage.of(config.store().directory()).differences(damaged))
                .isEmpty();
    }

    private FrameEntry framed(ByteBuffer frame) {
        return new FrameEntry(frame, leader.logSegmentBytes());
    }

    private FrameEntry proposed(int i) {
        return FrameEntry.decode(
                "of value " + i, ByteBuffer.wrap(framed(frames.get(i)).encode()));
    }

    private void assertLeaves(FrameEntry entry, String why) {
        long position = follower.now().position();
        assertThatIllegalStateException()
                .isThrownBy(() -> follower.replay("(t:1, i:7)", entry))
                .withMessageContaining("node a cannot apply entry (t:1, i:7), which its group has committed")
                .withMessageContaining(why);
        assertThat(follower.now().position()).isEqualTo(position);
    }

    /** Returns a frame that does not continue the leader's log. */
    private static ByteBuffer ofAnotherLog(ByteBuffer frame) {
        ByteBuffer forged = copyOf(frame).order(ByteOrder.LITTLE_ENDIAN);
        forged.putInt(FrameLayout.PREVIOUS_CRC, 7);
        Reseal.frame(forged, 0);
        return forged;
    }

    @Test
    void failsOnFrameThatCannotBeApplied() {
        follower.replay("0", proposed(0));
        assertLeaves(proposed(2), "it follows the frame at LSN");
        ByteBuffer damaged = copyOf(frames.get(1));
        damaged.put(FrameLayout.HEADER_BYTES + 40, (byte) 99);
        assertLeaves(framed(damaged), "it is damaged");
        assertLeaves(
                new FrameEntry(frames.get(1), 1 << 20),
                "log segments of the leader have 1048576 bytes, and those of this node have 32768");
        assertLeaves(framed(ofAnotherLog(frames.get(1))), "the replicas differ; verify both stores");
        assertThat(follower.replay("1", proposed(1))).isTrue();
    }

    @Test
    void skipsOnlyFrameWhosePositionIsTaken() throws IOException {
        List<ByteBuffer> leftovers = new CopyOnWriteArrayList<>();
        try (Replica former = Replica.open(store("former"), config.storeId(), 0)) {
            former.lead(frame -> leftovers.add(copyOf(frame)));
            await(former.store().append(LIST + 1, bytes(10, 1)));
        }
        follower.replay("0", proposed(0));
        assertThat(follower.replay("leftover", framed(leftovers.get(0)))).isFalse();
        for (int i = 0; i < frames.size(); i++) {
            assertThat(follower.replay("with value " + i, proposed(i))).isTrue();
        }
        assertThat(StoreContents.of(follower.now().store())).isEqualTo(StoreContents.of(leader.store()));
    }

    /** Tests that a reopened store detects a different log by reading the last frame's checksum from its files. */
    @Test
    void detectsDifferentLogAfterReopen() {
        follower.replay("0", proposed(0));
        follower.reopen();
        assertLeaves(framed(ofAnotherLog(frames.get(1))), "the replicas differ; verify both stores");
        assertThat(follower.replay("1", proposed(1))).isTrue();
    }
}
