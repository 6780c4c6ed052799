package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.StoreDirectoryException;
import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.SmallStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
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

    static List<Path> segments(Path log) throws IOException {
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
