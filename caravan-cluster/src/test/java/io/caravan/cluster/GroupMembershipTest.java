package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.caravan.StoreDirectoryException;
import io.caravan.testing.Eventually;
import io.caravan.testing.FreePorts;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.StoreCalls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of nodes that join and leave a group while it accepts writes. */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class GroupMembershipTest {
    private static final long LIST = 7;

    @TempDir
    Path directory;

    private static List<String> ids(GroupMember member) {
        return member.nodes().stream().map(Node::id).sorted().toList();
    }

    private static GroupMember leader(Group group) {
        return group.member(group.awaitLeader());
    }

    /** Tests that nodes with IPv6 addresses form a group. Without brackets, gRPC would resolve them as host names. */
    @Test
    void nodesWithIpv6AddressesFormGroup() throws Exception {
        assumeTrue(NetworkInterface.getByInetAddress(InetAddress.getByName("::1")) != null, "IPv6 is not available");
        List<Node> nodes = Stream.of("a", "b", "c")
                .map(name -> new Node(name, "0:0:0:0:0:0:0:1", FreePorts.next()))
                .toList();
        try (Group group = new Group(directory, node -> null, nodes).create()) {
            String acknowledged = group.append(LIST, "first");
            assertThat(group.values(LIST)).contains(acknowledged);
            assertThat(leader(group).nodes()).containsExactlyInAnyOrderElementsOf(nodes);
        }
        assertThat(new Node("a", "fd00::1", 7000)).hasToString("a@[fd00::1]:7000");
    }

    /** A membership change that is requested from the leader. */
    interface Change {
        void of(GroupMember leader) throws IOException;
    }

    /** Requests a change repeatedly until it is made: on a busy machine, leadership may change during an attempt. */
    static void change(Group group, Change change) {
        Eventually.await("the change is made", () -> rejection(group, change).isEmpty());
    }

    /** Returns the message with which the group rejected the change; empty if it made the change. */
    static String rejection(Group group, Change change) {
        try {
            change.of(leader(group));
            return "";
        } catch (IOException | IllegalArgumentException rejected) {
            return String.valueOf(rejected.getMessage());
        }
    }

    static void add(Group group, Node node) throws Exception {
        change(group, leader -> {
            if (!ids(leader).contains(node.id())) {
                leader.changeMembers(null, node);
            }
        });
    }

    /** Stops and removes a follower, and returns its id. */
    private static String removeOne(Group group) throws Exception {
        String leaves = group.follower();
        group.stop(leaves);
        change(group, leader -> {
            if (ids(leader).contains(leaves)) {
                leader.changeMembers(leaves, null);
            }
        });
        return leaves;
    }

    private static void awaitNodes(Group group, String... expected) {
        for (String node : expected) {
            Eventually.await(
                    "node " + node + " knows the nodes",
                    () -> ids(group.member(node)).equals(List.of(expected)));
        }
    }

    /** A thread that appends values until it is stopped. */
    private static final class Writer implements AutoCloseable {
        private final Group group;
        private final List<String> acknowledged = new ArrayList<>();
        private final AtomicBoolean stopped = new AtomicBoolean();
        private final Thread thread = new Thread(this::write);

        Writer(Group group) {
            this.group = group;
            thread.start();
        }

        private void write() {
            for (int i = 0; !stopped.get(); i++) {
                String value = group.append(LIST, "value " + i);
                synchronized (acknowledged) {
                    acknowledged.add(value);
                }
            }
        }

        List<String> stop() throws InterruptedException {
            stopped.set(true);
            thread.join();
            return acknowledged;
        }

        @Override
        public void close() {
            stopped.set(true);
        }
    }

    @Test
    void addsRemovesAndReplacesNodesDuringWrites() throws Exception {
        List<String> acknowledged;
        try (Group group = new Group(directory).create();
                Writer writer = new Writer(group)) {
            group.awaitLeader();
            Node d = group.join("d");
            assertThat(group.member("d").nodes()).isEmpty();
            add(group, d);
            awaitNodes(group, "a", "b", "c", "d");

            String leaves = removeOne(group);
            group.restart(leaves);
            Eventually.await(
                    "the removed node leaves", () -> !group.member(leaves).takesPart());
            assertThat(group.member(leaves).removed()).isTrue();
            group.stop(leaves);

            String dies = group.follower();
            group.stop(dies);
            Node e = group.join("e");
            change(group, leader -> {
                if (!ids(leader).contains("e")) {
                    leader.changeMembers(dies, e);
                }
            });
            List<String> now = ids(leader(group));
            assertThat(now).hasSize(3).contains("e").doesNotContain(leaves, dies);

            // All nodes restart at the same time, and their configurations still list the initial nodes.
            acknowledged = writer.stop();
            group.stop(now);
            group.restart(now);
            group.append(LIST, "after the restart");
            awaitNodes(group, now.toArray(String[]::new));
            assertThat(group.values(LIST)).containsAll(acknowledged).doesNotHaveDuplicates();
            group.awaitAllAlike();

            // A node that was removed while it was down learns of its removal from a leader that it knows.
            change(group, leader -> {
                if (leader == group.member("e")) {
                    leader.transferLeadership("d", Duration.ofSeconds(5));
                }
            });
            group.restart(dies);
            Eventually.await(
                    "the replaced node leaves", () -> !group.member(dies).takesPart());
            assertThat(group.member(dies).removed()).isTrue();
            assertThat(ids(leader(group))).isEqualTo(now);
            group.stop(dies);
            group.assertAllAlike();
        }
        assertThat(acknowledged).isNotEmpty();
    }

    @Test
    void joiningNodeReceivesSnapshotIfLogIsPurged() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "before");
            group.appendUntilLogIsPurged(LIST + 1);
            add(group, group.join("d"));
            group.append(LIST, "after");
            group.assertAllAlike();
        }
    }

    /**
     * Tests a leader that loses its majority while a joining node catches up. Raft does not check for a majority during
     * the catch-up.
     */
    @Test
    void leaderStepsDownIfMajorityIsLostDuringCatchUp() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "before");
            group.appendUntilLogIsPurged(LIST + 1);
            Node d = group.join("d");
            // This file prevents the renaming of a received snapshot, so the node receives snapshots repeatedly.
            Path inTheWay = Files.createFile(group.storeDirectory("d").resolveSibling("store.received"));
            AtomicReference<CompletableFuture<String>> addition = new AtomicReference<>();
            Eventually.await("the node receives a snapshot", () -> {
                if (addition.get() == null || addition.get().isDone()) {
                    addition.set(CompletableFuture.supplyAsync(
                            () -> rejection(group, leader -> leader.changeMembers(null, d))));
                }
                return sendsFiles(group);
            });
            String leader = group.awaitLeader();
            List<String> others = group.others(leader);
            group.stop(others);
            group.awaitNoLeader();
            assertThat(StoreCalls.await(addition.get())).contains("it is unknown whether");
            Files.delete(inTheWay);
            group.restart(others);
            group.append(LIST, "after");
            assertThat(group.textsOf(LIST)).contains("before", "after");
        }
    }

    private static boolean sendsFiles(Group group) {
        return List.of("a", "b", "c").stream()
                .map(group::member)
                .anyMatch(member -> member.membershipChange()
                        .filter(change -> change.contains("bytes of the snapshot"))
                        .isPresent());
    }

    /**
     * Tests that a joining node is not a member before it is added, even after a restart. Until then, it must neither
     * vote nor start an election.
     */
    @Test
    @Tag("slow")
    void nodeJoinsGroupWithoutWritesAndKeepsNote() throws Exception {
        try (Group group = new Group(directory).create()) {
            Node d = group.join("d");
            group.stop("d");
            group.restart("d");
            assertThat(group.member("d").nodes()).isEmpty();
            Node noted = new Node(d.id(), d.address(), d.port(), "serves clients on 1.2.3.4:5");
            add(group, noted);
            awaitNodes(group, "a", "b", "c", "d");
            List<String> all = List.of("a", "b", "c", "d");
            group.stop(all);
            group.restart(all);
            group.append(LIST, "value");
            for (String node : all) {
                Eventually.await(
                        "node " + node + " knows the note",
                        () -> group.member(node).nodes().contains(noted));
            }
        }
    }

    @Test
    @Tag("slow")
    void removedNodeRejoinsWithEmptyDirectories() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "value");
            group.awaitAllAlike();
            String removed = removeOne(group);
            awaitNodes(group, group.others(removed).toArray(String[]::new));
            group.loseFiles(removed);
            group.start(removed, GroupConfig.Start.JOIN);
            add(group, group.config(removed, GroupConfig.Start.JOIN).selfNode());
            group.append(LIST, "after");
            group.awaitAllAlike();
        }
    }

    /** Tests that a group is not created twice even if a script passes --cluster-create for an empty directory. */
    @Test
    void nodeWithLostFilesCannotRecreateGroup() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "value");
            group.awaitAllAlike();
            String loses = group.follower();
            Eventually.await(
                    "the others know that it has had entries",
                    () -> group.nodes().stream()
                            .map(node -> group.member(node.id()))
                            .flatMap(member -> member.progress().stream())
                            .filter(known -> known.node().id().equals(loses))
                            .allMatch(known -> known.committed() > 0));
            group.stop(loses);
            group.loseFiles(loses);
            assertDoesNotCreate(group, loses);

            // The other nodes have recorded that this node received entries, and the record survives a restart.
            List<String> others = group.others(loses);
            group.stop(others);
            group.restart(others);
            assertDoesNotCreate(group, loses);
        }
    }

    private static void assertDoesNotCreate(Group group, String loses) {
        assertThatExceptionOfType(StoreDirectoryException.class)
                .isThrownBy(() -> group.start(loses, GroupConfig.Start.CREATE))
                .withMessageContaining("node " + loses + " is already a member of the group")
                .withMessageContaining("has lost its files");
        assertThat(group.raftDirectory(loses)).doesNotExist();
    }

    /** Tests that a node of a new group may start after an election, because the node has acknowledged nothing. */
    @Test
    void newGroupAcceptsLateNode() throws Exception {
        try (Group group = new Group(directory)) {
            group.create("a", "b");
            String acknowledged = group.append(LIST, "without c");
            group.start("c", GroupConfig.Start.CREATE);
            group.awaitAllAlike();
            assertThat(group.values(LIST)).contains(acknowledged);
        }
    }

    @Test
    void joinFailsIfNoNodeResponds() throws Exception {
        try (Group group = new Group(directory)) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> group.join("d"))
                    .withMessageContaining(" responds: node ");
            assertThat(group.raftDirectory("d")).doesNotExist();
        }
    }

    /** Tests that a group continues unchanged after it rejects an invalid change. */
    @Test
    void rejectsInvalidMembershipChanges() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "value");
            assertRejected(
                    group,
                    leader -> group.member(group.follower()).changeMembers("a", null),
                    "is not the leader: send the change to the leader");
            Node unreachable = Group.freeNodes("d").get(0);
            assertRejected(group, leader -> leader.changeMembers(null, unreachable), "does not respond");
            Node alias = new Node("d", "localhost", group.nodes().get(0).port());
            assertRejected(group, leader -> leader.changeMembers(null, alias), "has the id a, not d");
            group.append(LIST, "another");
            assertThat(ids(leader(group))).containsExactly("a", "b", "c");

            // The node would vote without the entries that it has acknowledged.
            String loses = group.follower();
            group.stop(loses);
            group.loseFiles(loses);
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> group.start(loses, GroupConfig.Start.JOIN))
                    .withMessageContaining(
                            "node " + loses + " is already a member of the group, and has lost its files");
            assertThat(group.raftDirectory(loses)).doesNotExist();
        }
    }

    /**
     * Checks that a change is rejected with this message. Retries after any other message, because leadership may
     * change on a busy machine.
     */
    private static void assertRejected(Group group, Change change, String why) {
        Eventually.await(
                "it is rejected: " + why, () -> rejection(group, change).contains(why));
    }

    /**
     * Tests that a node can start while its removal is in progress, because the group may undo the removal and need the
     * node's vote.
     */
    @Test
    @Tag("slow")
    void rejectsNodeOnlyOnceItsRemovalIsCertain() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "value");
            // The other nodes must not run. They know of no removal, and an entry from a leader would replace the
            // members that this test writes.
            group.stop(List.of("a", "b", "c"));
            List<Node> all = group.nodes();
            List<Node> others = all.subList(0, 2);
            writeNodes(group, "c", others, all);
            group.restart("c");
            group.stop("c");
            writeNodes(group, "c", others, List.of());
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> group.restart("c"))
                    .withMessageContaining("node c was removed from its group");
        }
    }

    /** Writes the members to a node's Raft metadata file, as Raft does when it applies a membership entry. */
    private static void writeNodes(Group group, String of, List<Node> nodes, List<Node> before) throws IOException {
        RaftConfigurationProto.Builder entry = RaftConfigurationProto.newBuilder();
        nodes.forEach(node -> entry.addPeers(Membership.peer(node).getRaftPeerProto()));
        before.forEach(node -> entry.addOldPeers(Membership.peer(node).getRaftPeerProto()));
        Files.write(
                group.raftFiles(of).resolve("raft-meta.conf"),
                LogEntryProto.newBuilder()
                        .setTerm(1)
                        .setIndex(1_000_000)
                        .setConfigurationEntry(entry)
                        .build()
                        .toByteArray());
    }
}
