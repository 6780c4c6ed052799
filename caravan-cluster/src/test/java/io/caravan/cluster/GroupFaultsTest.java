package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.StoreDirectoryException;
import io.caravan.testing.Eventually;
import io.caravan.testing.Patient;
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

/** Bad days of a group: no majority, lost files, wrong configurations. */
@Patient
@Execution(ExecutionMode.CONCURRENT)
final class GroupFaultsTest {
    private static final long LIST = 7;
    private static final int MANY_CONFIRMATIONS = 20_000;

    @TempDir
    Path directory;

    @Test
    void withoutAMajorityWritesFailAndAllComesBackByItself() throws Exception {
        try (Group group = new Group(directory).create()) {
            String leader = group.awaitLeader();
            List<String> others = group.hosts().stream()
                    .map(Host::id)
                    .filter(id -> !id.equals(leader))
                    .toList();
            List<String> acknowledged = new ArrayList<>();
            acknowledged.add(group.append(LIST, "first"));
            DurableListStore store = Objects.requireNonNull(group.store(group.awaitLeader()));
            for (String other : others) {
                group.stop(other);
            }
            assertThatExceptionOfType(CaravanException.class)
                    .isThrownBy(() -> await(store.append(LIST, bytes("nobody heard of it"))));
            group.awaitNoLeader();
            for (String other : others) {
                group.restart(other);
            }
            acknowledged.add(group.append(LIST, "again"));
            assertThat(group.values(LIST)).containsAll(acknowledged);
        }
    }

    @Test
    void onlyALeaderWithAMajorityConfirmsThatItLeads() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "first");
            confirm(group);
            assertUnconfirmed(group.member(group.follower()));
            GroupMember leader = group.member(group.awaitLeader());
            List<String> others = group.hosts().stream()
                    .map(Host::id)
                    .filter(id -> group.member(id) != leader)
                    .toList();
            for (String other : others) {
                group.stop(other);
            }
            assertUnconfirmed(leader);
            for (String other : others) {
                group.restart(other);
            }
            confirm(group);
            group.append(LIST, "second");
            assertThat(group.values(LIST)).contains("first", "second");
        }
    }

    private static void assertUnconfirmed(GroupMember member) {
        assertThat(member.confirmLeadership())
                .failsWithin(Duration.ofMinutes(1))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(IOException.class)
                .withMessageContaining("cannot confirm that it leads its group");
    }

    /** A busy machine may have another host lead in between. */
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

    /** Entries without a frame are dropped as others are, though the store's own log ends where it did. */
    @Test
    @Tag("thorough")
    void theRaftLogOfAGroupThatOnlyReadsStrictlyIsDropped() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "only");
            for (int i = 0; i < MANY_CONFIRMATIONS && !isDropped(group); i++) {
                confirm(group);
            }
            assertThat(isDropped(group)).isTrue();
            String away = group.follower();
            group.stop(away);
            group.restart(away);
            group.append(LIST, "after");
            group.awaitAllAlike();
        }
    }

    private static boolean isDropped(Group group) throws InterruptedException {
        GroupMember leader = group.member(group.awaitLeader());
        return leader.keptEntries() < leader.committedIndex() / 2;
    }

    @Test
    void aHostThatHasLostItsFilesDoesNotVote() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.awaitLeader();
            group.stop("a");
            delete(group.raftDirectory("a"));
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> group.restart("a"))
                    .withMessageContaining("come back under another id");
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(
                            () -> GroupMember.start(group.config("b", GroupConfig.Start.CREATE), new NobodyListens()))
                    .withMessageContaining("is not empty");
        }
    }

    @Test
    void whatAHostReceivedInAnotherLifeIsNotTakenIntoANewGroup() throws Exception {
        try (Group group = new Group(directory)) {
            GroupConfig config = group.config("a", GroupConfig.Start.CREATE);
            for (Path left : GroupMember.foldersBeside(config.store().directory())) {
                Files.createDirectories(left.resolve("something"));
                assertThatExceptionOfType(StoreDirectoryException.class)
                        .isThrownBy(() -> GroupMember.start(config, new NobodyListens()))
                        .withMessageContaining(left + " is not empty");
                delete(left);
            }
        }
    }

    /** What the Raft log may have dropped, an older copy of the store lacks. */
    @Test
    void aHostWhoseStoreWasPutBackFromAnOlderCopyIsRefused() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.awaitLeader();
            group.stop("a");
            Path mark = group.raftDirectory("a")
                    .resolve(group.config("a", GroupConfig.Start.AGAIN).group().toString())
                    .resolve("sm");
            AppliedMark later = new AppliedMark(mark);
            later.applied(TermIndex.valueOf(1, 1_000_000), 1L << 40);
            later.forced(1L << 40);
            assertThatExceptionOfType(Exception.class)
                    .isThrownBy(() -> group.restart("a"))
                    .havingRootCause()
                    .isInstanceOf(StoreDirectoryException.class)
                    .withMessageContaining("it is not the one that this host had");
        }
    }

    /** It would refuse all later frames, and could be elected without what was acknowledged. */
    @Test
    void aHostThatLacksAFrameLeavesTheGroup() throws Exception {
        try (Group group = new Group(directory).create()) {
            for (int i = 0; i < 5; i++) {
                group.append(LIST, "value " + i);
            }
            group.awaitAllAlike();
            String host = group.awaitLeader().equals("a") ? "b" : "a";
            long applied = group.member(host).appliedIndex();
            long term = group.member(host).term();
            group.stop(host);
            delete(group.storeDirectory(host));
            AppliedMark ahead = new AppliedMark(group.raftDirectory(host)
                    .resolve(group.config(host, GroupConfig.Start.AGAIN).group().toString())
                    .resolve("sm"));
            ahead.applied(TermIndex.valueOf(term, applied), 1);
            ahead.forced(1);
            group.restart(host);
            group.append(LIST, "one more");
            Eventually.await(
                    "the host leaves the group", () -> !group.member(host).takesPart());
        }
    }

    @Test
    void hostsOfAGroupDifferInIdAndAddress() throws Exception {
        try (Group group = new Group(directory)) {
            GroupConfig config = group.config("a", GroupConfig.Start.CREATE);
            Host twin = new Host("a", "127.0.0.1", 1);
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> withHosts(config, List.of(config.selfHost(), twin)))
                    .withMessageContaining("the same id");
            Host sameAddress = new Host("d", "127.0.0.1", config.selfHost().port());
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> withHosts(config, List.of(config.selfHost(), sameAddress)))
                    .withMessageContaining("the same address");
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> withHosts(config, List.of(new Host("x", "127.0.0.1", 1))))
                    .withMessageContaining("not one of the group's");
        }
    }

    private static GroupConfig withHosts(GroupConfig config, List<Host> hosts) {
        return new GroupConfig(
                config.group(),
                config.self(),
                hosts,
                config.store(),
                config.raftDirectory(),
                config.election(),
                config.keptLogBytes(),
                config.start(),
                config.tls());
    }

    private static void delete(Path tree) throws IOException {
        List<Path> found;
        try (Stream<Path> paths = Files.walk(tree)) {
            found = new ArrayList<>(paths.toList());
        }
        for (int i = found.size() - 1; i >= 0; i--) {
            Files.delete(found.get(i));
        }
    }

    private static final class NobodyListens implements LeadershipListener {
        @Override
        public void leads(DurableListStore store) {}

        @Override
        public void follows() {}
    }
}
