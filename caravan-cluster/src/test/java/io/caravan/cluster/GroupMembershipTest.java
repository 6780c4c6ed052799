package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.StoreDirectoryException;
import io.caravan.testing.Eventually;
import io.caravan.testing.Patient;
import io.caravan.testing.StoreCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Nodes that join and leave a group while it accepts writes. */
@Patient
@Execution(ExecutionMode.CONCURRENT)
final class GroupMembershipTest {
    private static final long LIST = 7;

    @TempDir
    Path directory;

    private static List<String> ids(GroupMember member) {
        return member.hosts().stream().map(Host::id).sorted().toList();
    }

    private static GroupMember leader(Group group) {
        return group.member(group.awaitLeader());
    }

    /** A membership change. */
    interface Change {
        void of(GroupMember leader) throws IOException;
    }

    /** Retries until the change is made: on a busy machine, leadership may change in between. */
    static void change(Group group, Change change) {
        Eventually.await("the change is made", () -> refusal(group, change).isEmpty());
    }

    /** Returns why the change was not made; empty if it was. */
    static String refusal(Group group, Change change) {
        try {
            change.of(leader(group));
            return "";
        } catch (IOException | IllegalArgumentException refused) {
            return String.valueOf(refused.getMessage());
        }
    }

    static void add(Group group, Host host) throws Exception {
        change(group, leader -> {
            if (!ids(leader).contains(host.id())) {
                leader.add(host);
            }
        });
    }

    /** Removes a node, and returns its id. */
    private static String removeOne(Group group) throws Exception {
        String leaves = group.follower();
        group.stop(leaves);
        change(group, leader -> {
            if (ids(leader).contains(leaves)) {
                leader.remove(leaves);
            }
        });
        return leaves;
    }

    private static void awaitHosts(Group group, String... expected) {
        for (String host : expected) {
            Eventually.await(
                    "host " + host + " knows the hosts",
                    () -> ids(group.member(host)).equals(List.of(expected)));
        }
    }

    /** Writes until it is stopped. */
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
    void aGroupGrowsShrinksAndReplacesAHostWhileItTakesWrites() throws Exception {
        List<String> acknowledged;
        try (Group group = new Group(directory).create();
                Writer writer = new Writer(group)) {
            group.awaitLeader();
            Host d = group.join("d");
            assertThat(group.member("d").hosts()).isEmpty();
            add(group, d);
            awaitHosts(group, "a", "b", "c", "d");

            String leaves = removeOne(group);
            group.restart(leaves);
            Eventually.await(
                    "the removed host leaves", () -> !group.member(leaves).takesPart());
            assertThat(group.member(leaves).removed()).isTrue();
            group.stop(leaves);

            String dies = group.follower();
            group.stop(dies);
            Host e = group.join("e");
            change(group, leader -> {
                if (!ids(leader).contains("e")) {
                    leader.replace(dies, e);
                }
            });
            List<String> now = ids(leader(group));
            assertThat(now).hasSize(3).contains("e").doesNotContain(leaves, dies);

            // All at once, with the initial nodes in their configuration.
            acknowledged = writer.stop();
            group.stop(now);
            group.restart(now);
            group.append(LIST, "after the restart");
            awaitHosts(group, now.toArray(String[]::new));
            assertThat(group.values(LIST)).containsAll(acknowledged).doesNotHaveDuplicates();
            group.awaitAllAlike();

            // A node that was removed while it was away learns of it from a leader that it knows.
            change(group, leader -> {
                if (leader == group.member("e")) {
                    leader.transferLeadership("d", Duration.ofSeconds(5));
                }
            });
            group.restart(dies);
            Eventually.await(
                    "the replaced host leaves", () -> !group.member(dies).takesPart());
            assertThat(group.member(dies).removed()).isTrue();
            assertThat(ids(leader(group))).isEqualTo(now);
            group.stop(dies);
            group.assertAllAlike();
        }
        assertThat(acknowledged).isNotEmpty();
    }

    @Test
    void aHostThatJoinsIsSentFilesWhenTheLogDoesNotGoBackToTheBeginning() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "before");
            group.appendUntilTheLogIsDropped(LIST + 1);
            add(group, group.join("d"));
            group.append(LIST, "after");
            group.assertAllAlike();
        }
    }

    /** Raft itself does not check for its majority during that time. */
    @Test
    void aLeaderThatLosesItsMajorityWhileAHostCatchesUpLeadsNoLonger() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "before");
            group.appendUntilTheLogIsDropped(LIST + 1);
            Host d = group.join("d");
            // It receives snapshots again and again, because they cannot get this name.
            Path inTheWay = Files.createFile(group.storeDirectory("d").resolveSibling("store.received"));
            AtomicReference<CompletableFuture<String>> asked = new AtomicReference<>();
            Eventually.await("the host is sent files", () -> {
                if (asked.get() == null || asked.get().isDone()) {
                    asked.set(CompletableFuture.supplyAsync(() -> refusal(group, leader -> leader.add(d))));
                }
                return sendsFiles(group);
            });
            String leader = group.awaitLeader();
            List<String> others = group.others(leader);
            group.stop(others);
            group.awaitNoLeader();
            assertThat(StoreCalls.await(asked.get())).contains("nobody knows whether");
            Files.delete(inTheWay);
            group.restart(others);
            group.append(LIST, "after");
            assertThat(group.values(LIST)).contains("before", "after");
        }
    }

    private static boolean sendsFiles(Group group) {
        return List.of("a", "b", "c").stream()
                .map(group::member)
                .anyMatch(member -> member.hostChange()
                        .filter(change -> change.contains("bytes of the files"))
                        .isPresent());
    }

    /** Until it is added, it is no member, even after a restart: it must neither vote nor start an election. */
    @Test
    void aHostJoinsAnEmptyGroupAndKeepsItsNote() throws Exception {
        try (Group group = new Group(directory).create()) {
            Host d = group.join("d");
            group.stop("d");
            group.restart("d");
            assertThat(group.member("d").hosts()).isEmpty();
            Host noted = new Host(d.id(), d.address(), d.port(), "serves clients on 1.2.3.4:5");
            add(group, noted);
            awaitHosts(group, "a", "b", "c", "d");
            List<String> all = List.of("a", "b", "c", "d");
            group.stop(all);
            group.restart(all);
            group.append(LIST, "value");
            for (String host : all) {
                Eventually.await(
                        "host " + host + " knows the note",
                        () -> group.member(host).hosts().contains(noted));
            }
        }
    }

    @Test
    void aHostThatWasRemovedComesBackWithEmptyDirectories() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "value");
            group.awaitAllAlike();
            String removed = removeOne(group);
            awaitHosts(group, group.others(removed).toArray(String[]::new));
            group.loseFiles(removed);
            group.start(removed, GroupConfig.Start.JOIN);
            add(group, group.config(removed, GroupConfig.Start.JOIN).selfHost());
            group.append(LIST, "after");
            group.awaitAllAlike();
        }
    }

    /** A start script may pass --cluster-create whenever the directory is empty. */
    @Test
    void aHostThatLostItsFilesDoesNotCreateTheGroupAgain() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "value");
            group.awaitAllAlike();
            String loses = group.follower();
            Eventually.await(
                    "the others know that it has had entries",
                    () -> group.hosts().stream()
                            .map(host -> group.member(host.id()))
                            .flatMap(member -> member.progress().stream())
                            .filter(known -> known.host().id().equals(loses))
                            .allMatch(known -> known.committed() > 0));
            group.stop(loses);
            group.loseFiles(loses);
            assertDoesNotCreate(group, loses);

            // The others have learned this from each other, and still know it after a restart.
            List<String> others = group.others(loses);
            group.stop(others);
            group.restart(others);
            assertDoesNotCreate(group, loses);
        }
    }

    private static void assertDoesNotCreate(Group group, String loses) {
        assertThatExceptionOfType(StoreDirectoryException.class)
                .isThrownBy(() -> group.start(loses, GroupConfig.Start.CREATE))
                .withMessageContaining("host " + loses + " is one of the group already")
                .withMessageContaining("has lost its files");
        assertThat(group.raftDirectory(loses)).doesNotExist();
    }

    /** The others have elected a leader before this node starts. It has acknowledged nothing. */
    @Test
    void aHostThatComesLateToANewGroupIsTaken() throws Exception {
        try (Group group = new Group(directory)) {
            group.create("a", "b");
            String acknowledged = group.append(LIST, "without c");
            group.start("c", GroupConfig.Start.CREATE);
            group.awaitAllAlike();
            assertThat(group.values(LIST)).contains(acknowledged);
        }
    }

    @Test
    void aHostDoesNotJoinWhenNobodyAnswers() throws Exception {
        try (Group group = new Group(directory)) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> group.join("d"))
                    .withMessageContaining("no host of the group answers");
            assertThat(group.raftDirectory("d")).doesNotExist();
        }
    }

    /** The group continues unchanged. */
    @Test
    void changesThatDoNotFitAreRefused() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "value");
            assertRefused(
                    group,
                    leader -> group.member(group.follower()).remove("a"),
                    "does not lead: ask the one that does");
            Host nobody = Group.freeHosts("d").get(0);
            assertRefused(group, leader -> leader.add(nobody), "does not answer");
            Host alias = new Host("d", "localhost", group.hosts().get(0).port());
            assertRefused(group, leader -> leader.add(alias), "answers host a, not d");
            group.append(LIST, "another");
            assertThat(ids(leader(group))).containsExactly("a", "b", "c");

            // It would vote without knowing what it has acknowledged.
            String loses = group.follower();
            group.stop(loses);
            group.loseFiles(loses);
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> group.start(loses, GroupConfig.Start.JOIN))
                    .withMessageContaining("host " + loses + " is one of the group already, and has lost its files");
            assertThat(group.raftDirectory(loses)).doesNotExist();
        }
    }

    /** Retries while another message comes: on a busy machine, leadership may change. */
    private static void assertRefused(Group group, Change change, String why) {
        Eventually.await("it is refused: " + why, () -> refusal(group, change).contains(why));
    }

    /** While both the old and the new members decide, the change could be undone, and the node could be needed. */
    @Test
    void aHostIsRefusedWhenItsRemovalIsCertainAndNotBefore() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "value");
            group.stop("c");
            List<Host> all = group.hosts();
            List<Host> others = all.subList(0, 2);
            writeHosts(group, "c", others, all);
            group.restart("c");
            group.stop("c");
            writeHosts(group, "c", others, List.of());
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> group.restart("c"))
                    .withMessageContaining("host c was removed from its group");
        }
    }

    /** Writes the members as Raft does when it applies the entry. */
    private static void writeHosts(Group group, String of, List<Host> hosts, List<Host> before) throws IOException {
        RaftConfigurationProto.Builder entry = RaftConfigurationProto.newBuilder();
        hosts.forEach(host -> entry.addPeers(Membership.peer(host).getRaftPeerProto()));
        before.forEach(host -> entry.addOldPeers(Membership.peer(host).getRaftPeerProto()));
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
