package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.Replica;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreFailedException;
import io.caravan.VerifyReport;
import io.caravan.testing.Eventually;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.SmallStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of group failures: loss of the majority, lost files, and wrong configurations. */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class GroupFaultsTest {
    private static final long LIST = 7;
    private static final int MANY_CONFIRMATIONS = 20_000;
    /** The number of appends whose total size exceeds a sixteenth of the retained Raft log. */
    private static final int APPENDS_UNTIL_PURGE = 40;

    @TempDir
    Path directory;

    @Test
    void acknowledgedWritesSurviveLeaderLoss() throws Exception {
        try (Group group = new Group(directory).create()) {
            List<String> acknowledged = new ArrayList<>();
            for (int round = 0; round < 2; round++) {
                String leader = group.awaitLeader();
                for (int i = 0; i < 25; i++) {
                    acknowledged.add(group.append(LIST, "round " + round + " value " + i));
                }
                group.stop(leader);
                acknowledged.add(group.append(LIST, "round " + round + " without " + leader));
                group.restart(leader);
            }
            assertThat(group.values(LIST)).containsSubsequence(acknowledged).doesNotHaveDuplicates();
            group.assertAllAlike();
        }
    }

    @Test
    void commitsAndConfirmsNothingUntilMajorityReturns() throws Exception {
        try (Group group = new Group(directory).create()) {
            String first = group.append(LIST, "first");
            confirm(group);
            assertUnconfirmed(group.member(group.follower()));
            String leader = group.awaitLeader();
            DurableListStore store = Objects.requireNonNull(group.store(leader));
            List<String> others = group.others(leader);
            group.stop(others);
            assertUnconfirmed(group.member(leader));
            assertThatExceptionOfType(CaravanException.class)
                    .isThrownBy(() -> await(store.append(LIST, bytes("no listener was notified"))));
            group.awaitNoLeader();
            group.restart(others);
            confirm(group);
            String again = group.append(LIST, "again");
            assertThat(group.values(LIST)).contains(first, again);
        }
    }

    private static void assertUnconfirmed(GroupMember member) {
        assertThat(member.confirmLeadership())
                .failsWithin(Duration.ofMinutes(1))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(IOException.class)
                .withMessageContaining("cannot confirm that it leads its group");
    }

    /** Confirms leadership. Retries, because leadership may change on a busy machine. */
    private static void confirm(Group group) {
        Eventually.await("the leader confirms that it leads", () -> {
            try {
                await(group.member(group.awaitLeader()).confirmLeadership());
                return true;
            } catch (Exception lost) {
                return false;
            }
        });
    }

    /**
     * Transfers leadership to a node that was down. The transfer request uses the connection for entries, whose retries
     * become less frequent while the node is down.
     */
    @Test
    void transfersLeadershipToRestartedNode() throws Exception {
        try (Group group = new Group(directory).create()) {
            String away = group.follower();
            group.stop(away);
            group.restart(away);
            while (group.store(away) == null) {
                group.transferUnlessElected(away, Duration.ofSeconds(5));
                group.awaitLeader();
            }
        }
    }

    /** Tests that entries without a frame are purged, although the log of the store does not grow. */
    @Test
    @Tag("thorough")
    void linearizableReadsAloneTriggerRaftLogPurge() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "only");
            for (int i = 0; i < MANY_CONFIRMATIONS && !isPurged(group); i++) {
                confirm(group);
            }
            assertThat(isPurged(group)).isTrue();
            String away = group.follower();
            group.stop(away);
            group.restart(away);
            group.append(LIST, "after");
            group.awaitAllAlike();
        }
    }

    private static boolean isPurged(Group group) {
        GroupMember leader = group.member(group.awaitLeader());
        return leader.keptEntries() < leader.committedIndex() / 2;
    }

    @Test
    void rejectsRestartWithLostOrOutdatedFiles() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.awaitLeader();
            group.stop("a");
            // An applied index after the end of the store simulates a store that was restored from an older copy. Such
            // a store may lack entries that the Raft log has purged.
            AppliedIndex later = new AppliedIndex(group.raftFiles("a").resolveSibling("sm"));
            later.applied(TermIndex.valueOf(1, 1_000_000), 1L << 40);
            later.forced(1L << 40);
            assertThatExceptionOfType(Exception.class)
                    .isThrownBy(() -> group.restart("a"))
                    .havingRootCause()
                    .isInstanceOf(StoreDirectoryException.class)
                    .withMessageContaining("it is not the store that this node had");
            StoreDirectoriesTest.delete(group.raftDirectory("a"));
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> group.restart("a"))
                    .withMessageContaining("start it with another id");
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> GroupMember.start(group.config("b", GroupConfig.Start.CREATE), new NoListener()))
                    .withMessageContaining("is not empty");
        }
    }

    @Test
    void rejectsGroupCreationWithLeftoverSnapshot() throws Exception {
        try (Group group = new Group(directory)) {
            GroupConfig config = group.config("a", GroupConfig.Start.CREATE);
            for (Path left : GroupMember.adjacentDirectories(config.store().directory())) {
                Files.createDirectories(left.resolve("something"));
                assertThatExceptionOfType(StoreDirectoryException.class)
                        .isThrownBy(() -> GroupMember.start(config, new NoListener()))
                        .withMessageContaining(left + " is not empty");
                StoreDirectoriesTest.delete(left);
            }
        }
    }

    /**
     * Tests a node whose store lacks a frame: if it stayed in the group, it would reject all later frames, and could
     * become the leader although it lacks acknowledged writes.
     */
    @Test
    void nodeWithMissingFrameLeavesGroup() throws Exception {
        try (Group group = new Group(directory).create()) {
            for (int i = 0; i < 5; i++) {
                group.append(LIST, "value " + i);
            }
            group.awaitAllAlike();
            String node = group.follower();
            group.stop(node);
            // The node cannot be elected before it has this entry.
            group.append(LIST, "one more");
            StoreDirectoriesTest.delete(group.storeDirectory(node));
            AppliedIndex ahead = new AppliedIndex(group.raftFiles(node).resolveSibling("sm"));
            ahead.applied(newest(group.raftFiles(node)), 1);
            ahead.forced(1);
            group.restart(node);
            Eventually.await(
                    "the node leaves the group", () -> !group.member(node).takesPart());
        }
    }

    /**
     * Returns the term and index of the newest entry. The entry's term may be lower than the node's term after an
     * unsuccessful election.
     */
    private static TermIndex newest(Path log) throws IOException {
        AtomicReference<TermIndex> newest = new AtomicReference<>();
        RaftSegments.readAll(log, entry -> newest.set(TermIndex.valueOf(entry)));
        return newest.get();
    }

    /**
     * Tests that a node leaves after a write error, such as a full disk. Raft does not retry the write, so the Raft log
     * would remain unusable even when the disk has space again.
     */
    @Test
    @Tag("slow")
    void nodeLeavesGroupIfRaftLogCannotGrow() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "first");
            String node = group.follower();
            Path log = group.raftFiles(node);
            Path aside = log.resolveSibling("aside");
            Files.move(log, aside);
            Files.createFile(log);
            for (int i = 0; group.member(node).takesPart(); i++) {
                assertThat(i).as("appends until a segment is full").isLessThan(10_000);
                group.append(LIST, "x".repeat(SmallStore.MAX_VALUE_BYTES / 2));
            }
            group.stop(node);
            Files.delete(log);
            Files.move(aside, log);
            group.restart(node);
            group.append(LIST, "last");
            group.awaitAllAlike();
            assertThat(group.textsOf(LIST)).startsWith("first").endsWith("last");
        }
    }

    /**
     * Tests a Raft log that ends before the store's log does, because the node was killed before Raft dropped the log
     * for a snapshot, or because the last log entries were not fsynced.
     */
    @Test
    void nodeCatchesUpIfRaftLogEndsBeforeStore() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "first");
            group.awaitAllAlike();
            String node = group.follower();
            group.stop(node);
            Path old = directory.resolve("old");
            copySegments(group.raftFiles(node), old);
            long applied = group.member(group.awaitLeader()).appliedIndex();
            group.restart(node);
            Path mark = group.raftFiles(node).resolveSibling("sm");
            for (int i = 0; !isBehind(applied, mark); i++) {
                assertThat(i).as("appends until the mark is written").isLessThan(10_000);
                group.append(LIST, "x".repeat(SmallStore.MAX_VALUE_BYTES / 2));
            }
            group.stop(node);
            for (Path segment : segments(group.raftFiles(node))) {
                Files.delete(segment);
            }
            copySegments(old, group.raftFiles(node));
            // This node has lost entries that it acknowledged to the leader, and a leader never resends acknowledged
            // entries. A leader of a later term asks the node which entries it has.
            String leader = group.awaitLeader();
            group.stop(leader);
            group.restart(leader);
            group.restart(node);
            group.append(LIST, "last");
            group.awaitAllAlike();
        }
    }

    private static boolean isBehind(long applied, Path mark) throws IOException {
        AppliedIndex.Applied durable = new AppliedIndex(mark).durable();
        return durable != null && durable.getIndex() > applied;
    }

    /** Tests the verification of a store in the state that a power failure left, before its node restarts. */
    @Test
    void verifyIgnoresDamageAfterAppliedIndex() throws Exception {
        try (Group group = new Group(directory).create()) {
            for (int i = 0; i < 5; i++) {
                group.append(LIST, "value " + i + ".");
            }
            group.awaitAllAlike();
            String node = group.follower();
            Path cut = directory.resolve("cut").resolve("store");
            copyFiles(group.storeDirectory(node), cut);
            flip(cut, "value 2.");
            Path raft = Files.createDirectories(directory.resolve("cut").resolve("raft"));
            assertThat(faults(cut, raft)).as("of a store alone").isNotEmpty();
            Files.createDirectories(raft.resolve("group").resolve("sm"));
            assertThat(faults(cut, raft)).isEmpty();
            AppliedIndex mark = new AppliedIndex(raft.resolve("group").resolve("sm"));
            mark.replaced(new AppliedIndex.Applied(TermIndex.valueOf(1, 100), 1L << 40));
            assertThat(faults(cut, raft)).as("of one that was forced").isNotEmpty();
            assertOpenSegmentIsRewrittenAtStart(group, node);
        }
    }

    /**
     * Checks that a node rewrites the open segment of its Raft log when it starts. Raft acknowledges the entries that
     * it reads at a start, but after a kill or a failed fsync they may exist only in the page cache.
     */
    private static void assertOpenSegmentIsRewrittenAtStart(Group group, String node) throws Exception {
        group.stop(node);
        Path segment = segments(group.raftFiles(node)).stream()
                .filter(file -> file.toString().contains("inprogress"))
                .findFirst()
                .orElseThrow();
        Object before = fileKey(segment);
        Path torn = Files.writeString(segment.resolveSibling("anew.tmp"), "of a start that was killed");
        group.restart(node);
        assertThat(torn).doesNotExist();
        assertThat(fileKey(segment)).isNotEqualTo(before);
        group.append(LIST, "last");
        group.awaitAllAlike();
    }

    private static List<CaravanException> faults(Path store, Path raft) throws IOException {
        return GroupMember.verify(store, raft, VerifyReport.Progress.NONE).faults();
    }

    private static void copyFiles(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private static Object fileKey(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    private static List<Path> segments(Path log) throws IOException {
        try (Stream<Path> files = Files.list(log)) {
            return files.filter(file -> file.getFileName().toString().startsWith("log_"))
                    .toList();
        }
    }

    private static void copySegments(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        for (Path segment : segments(from)) {
            Files.copy(segment, to.resolve(segment.getFileName()));
        }
    }

    /**
     * Tests a deposed leader whose disk has lost a frame that the leader still had in memory. The reopened store would
     * silently lack that frame.
     */
    @Test
    void deposedLeaderWithDamagedLogLeavesGroup() throws Exception {
        try (Group group = new Group(directory).create()) {
            for (int i = 0; i < 5; i++) {
                group.append(LIST, "value " + i + ".");
            }
            String node = group.awaitLeader();
            AtomicBoolean damaged = damageWhenDeposed(group, node);
            while (!transferTo(group, node, group.follower()) && !damaged.get()) {
                group.append(LIST, "more");
            }
            // The node must leave before a later frame reveals the missing frame.
            assertLeavesAndRejoinsIntact(group, node, damaged);
        }
    }

    /** Tests a node that lost a frame: no later frame reveals the loss before the node can lead again. */
    @Test
    void nodeWithLostAppliedFramesDoesNotLead() throws Exception {
        try (Group group = new Group(directory).create()) {
            for (int i = 0; i < 5; i++) {
                group.append(LIST, "value " + i + ".");
            }
            group.awaitAllAlike();
            String node = group.follower();
            AtomicBoolean damaged = damageWhenDeposed(group, node);
            while (!damaged.get()) {
                String leader = group.awaitLeader();
                transferTo(group, leader, leader.equals(node) ? group.follower() : node);
            }
            transferUntilItLeaves(group, node);
            assertLeavesAndRejoinsIntact(group, node, damaged);
        }
    }

    /** Makes a node's store fail when the node is deposed, as a write in progress would, and then damages a frame. */
    private static AtomicBoolean damageWhenDeposed(Group group, String node) {
        AtomicBoolean damaged = new AtomicBoolean();
        group.whenDeposed((deposed, store) -> {
            if (deposed.equals(node) && !damaged.get()) {
                assertThatExceptionOfType(CaravanException.class)
                        .isThrownBy(() -> await(store.append(LIST, bytes("too late"))));
                flip(group.storeDirectory(node), "value 2.");
                damaged.set(true);
            }
        });
        return damaged;
    }

    private static void flip(Path store, String value) {
        try (Stream<Path> files = Files.list(store)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".wal")).toList()) {
                int at = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).indexOf(value);
                if (at >= 0) {
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.write(ByteBuffer.wrap(new byte[] {'V'}), at);
                    }
                    return;
                }
            }
            throw new AssertionError("no file of the log has '" + value + "'");
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /**
     * Transfers leadership, and returns whether the transfer succeeded. On a busy machine, an election may prevent it,
     * so callers retry.
     */
    private static boolean transferTo(Group group, String from, String to) {
        boolean done = true;
        try {
            group.member(from).transferLeadership(to, Duration.ofSeconds(5));
        } catch (IOException notNow) {
            System.out.println("not handed over: " + notNow.getMessage());
            done = false;
        }
        group.awaitLeader();
        return done;
    }

    private static void assertLeavesAndRejoinsIntact(Group group, String node, AtomicBoolean damaged) throws Exception {
        Eventually.await("it has been deposed", damaged::get);
        Eventually.await("the node leaves the group", () -> !group.member(node).takesPart());
        group.append(LIST, "one more");
        group.stop(node);
        group.restart(node);
        group.awaitAllAlike();
        transferTo(group, group.awaitLeader(), node);
        assertThat(group.textsOf(LIST))
                .contains("value 0.", "value 1.", "value 2.", "value 3.", "value 4.", "one more")
                .doesNotContain("too late");
    }

    /** Tests a store failure that is detected only when the node is elected, because no later frame arrives. */
    @Test
    void electedNodeReopensFailedStoreAndLeads() throws Exception {
        try (Group group = new Group(directory).create()) {
            String node = group.failStoreOfFollower(LIST);
            while (group.store(node) == null) {
                transferTo(group, group.awaitLeader(), node);
            }
            group.append(LIST, "second");
            group.assertAllAlike();
        }
    }

    /**
     * Tests that a node becomes the leader while a purge of its Raft log is waiting. The purge fsyncs the store, which
     * must wait for a checkpoint in progress.
     */
    @Test
    void electedNodeLeadsWhilePurgeWaitsForCheckpoint() throws Exception {
        try (Group group = new Group(directory).create()) {
            String node = group.follower();
            FaultStorage disk = group.reopenWithFaults(node);
            Replica replica = group.replica(node).now();
            CompletableFuture<Void> checkpoint;
            try (FaultStorage.Hold hold = disk.hold(FaultStorage.on(FaultStorage.Kind.CREATE, "checkpoint-.*"))) {
                checkpoint = CompletableFuture.runAsync(replica.store()::checkpoint);
                hold.awaitReached();
                for (int i = 0; i < APPENDS_UNTIL_PURGE; i++) {
                    group.append(LIST, "x".repeat(SmallStore.MAX_VALUE_BYTES / 2));
                }
                group.awaitAllAlike();
                while (group.store(node) == null) {
                    transferTo(group, group.awaitLeader(), node);
                }
                group.append(LIST, "last");
            }
            await(checkpoint);
            group.assertAllAlike();
        }
    }

    /**
     * Tests that a node leaves its group if its listener fails when the node becomes the leader. Otherwise, Raft would
     * consider the node the leader for as long as the node participates.
     */
    @Test
    void nodeLeavesGroupIfListenerCannotServe() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "first");
            group.awaitAllAlike();
            String node = group.follower();
            group.whenElected((elected, store) -> {
                if (elected.equals(node)) {
                    throw new StoreFailedException("the store of " + node, new IOException("made to fail"));
                }
            });
            transferUntilItLeaves(group, node);
            group.append(LIST, "without it");
            group.stop(node);
        }
    }

    /**
     * Tests that a node leaves its group if its listener fails when the node's term ends. Otherwise, the thread that
     * applies entries would wait forever for the end of the term.
     */
    @Test
    @Tag("slow")
    void nodeLeavesGroupIfListenerCannotFollow() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "first");
            group.awaitAllAlike();
            String node = group.awaitLeader();
            group.whenDeposed((deposed, store) -> {
                if (deposed.equals(node)) {
                    throw new IllegalStateException("made to fail");
                }
            });
            while (group.store(node) != null) {
                transferTo(group, node, group.follower());
            }
            group.append(LIST, "of another term");
            Eventually.await(
                    "the node leaves the group", () -> !group.member(node).takesPart());
            group.stop(node);
        }
    }

    /**
     * Transfers leadership to this node, repeatedly, until the node leaves the group. On a busy machine, this may take
     * a second election.
     */
    private static void transferUntilItLeaves(Group group, String node) {
        while (group.member(node).takesPart()) {
            String leader = group.awaitLeader();
            assertThat(leader).isNotEqualTo(node);
            transferTo(group, leader, node);
        }
    }

    @Test
    void rejectsDuplicateNodesAndMissingSelf() throws Exception {
        try (Group group = new Group(directory)) {
            GroupConfig config = group.config("a", GroupConfig.Start.CREATE);
            Node twin = new Node("a", "127.0.0.1", 1);
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> Group.withNodes(config, List.of(config.selfNode(), twin)))
                    .withMessageContaining("the same id");
            Node sameAddress = new Node("d", "127.0.0.1", config.selfNode().port());
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> Group.withNodes(config, List.of(config.selfNode(), sameAddress)))
                    .withMessageContaining("the same address");
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> Group.withNodes(config, List.of(new Node("x", "127.0.0.1", 1))))
                    .withMessageContaining("is not one of the nodes of the group");
        }
    }

    static final class NoListener implements LeadershipListener {
        @Override
        public void leads(DurableListStore store) {}

        @Override
        public void follows() {}
    }
}
