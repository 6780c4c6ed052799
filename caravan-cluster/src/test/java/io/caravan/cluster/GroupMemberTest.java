package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.StoreDirectoryException;
import io.caravan.VerifyReport;
import io.caravan.testing.Patient;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A group of three hosts, whose leaders and followers are lost and come back. */
@Patient
final class GroupMemberTest {
    private static final long LIST = 7;

    @TempDir
    Path directory;

    @Test
    void whatWasAcknowledgedSurvivesTheLossOfLeaders() throws Exception {
        try (Group group = new Group(directory).create()) {
            List<String> acknowledged = new ArrayList<>();
            for (int round = 0; round < 4; round++) {
                String leader = group.awaitLeader();
                for (int i = 0; i < 25; i++) {
                    append(group, acknowledged, "round " + round + " value " + i);
                }
                group.stop(leader);
                append(group, acknowledged, "round " + round + " without " + leader);
                group.restart(leader);
            }
            assertThat(valuesAt(group, group.awaitLeader()))
                    .containsAll(acknowledged)
                    .doesNotHaveDuplicates();
        }
    }

    /** Appends where the leader is, again if it is lost meanwhile: then nobody knows, and the value may be there twice. */
    private static void append(Group group, List<String> acknowledged, String text) throws Exception {
        for (int attempt = 0; ; attempt++) {
            DurableListStore store = group.store(group.awaitLeader());
            String value = attempt == 0 ? text : text + " attempt " + attempt;
            try {
                await(Objects.requireNonNull(store).append(LIST, bytes(value)));
                acknowledged.add(value);
                return;
            } catch (CaravanException | NullPointerException lost) {
                assertThat(attempt).as("attempts to append").isLessThan(100);
            }
        }
    }

    private static List<String> valuesAt(Group group, String host) {
        return texts(group.store(host), LIST).stream()
                .map(entry -> entry.substring(entry.indexOf(':') + 1))
                .toList();
    }

    @Test
    void aFollowerThatWasAwayCatchesUpAndAllStoresAreTheSame() throws Exception {
        try (Group group = new Group(directory).create()) {
            String leader = group.awaitLeader();
            String away = group.hosts().stream()
                    .map(Host::id)
                    .filter(id -> !id.equals(leader))
                    .findFirst()
                    .orElseThrow();
            append(group, new ArrayList<>(), "before");
            group.stop(away);
            for (int i = 0; i < 200; i++) {
                append(group, new ArrayList<>(), "while away " + i);
            }
            group.restart(away);
            append(group, new ArrayList<>(), "after");
            long reached = group.member(leader).appliedIndex();
            awaitApplied(group.member(away), reached);
        }
        List<StoreContents> contents = new ArrayList<>();
        for (String host : List.of("a", "b", "c")) {
            Path store = directory.resolve(host).resolve("store");
            assertThat(DurableListStore.verify(store, VerifyReport.Progress.NONE)
                            .faults())
                    .isEmpty();
            try (DurableListStore opened =
                    DurableListStore.open(SmallStore.config(store).build())) {
                contents.add(StoreContents.of(opened));
            }
        }
        assertThat(contents).allMatch(contents.get(0)::equals);
        assertThat(contents.get(0).lists().get(LIST).values()).hasSize(202);
    }

    private static void awaitApplied(GroupMember member, long index) {
        CompletableFuture<Void> applied = CompletableFuture.runAsync(() -> {
            while (member.appliedIndex() < index) {
                Thread.onSpinWait();
            }
        });
        await(applied);
    }

    @Test
    void withoutAMajorityWritesFailAndAllComesBackByItself() throws Exception {
        try (Group group = new Group(directory).create()) {
            String leader = group.awaitLeader();
            List<String> others = group.hosts().stream()
                    .map(Host::id)
                    .filter(id -> !id.equals(leader))
                    .toList();
            List<String> acknowledged = new ArrayList<>();
            append(group, acknowledged, "first");
            DurableListStore store = group.store(leader);
            for (String other : others) {
                group.stop(other);
            }
            CompletableFuture<Long> lost = store.append(LIST, bytes("nobody heard of it"));
            assertThatExceptionOfType(CaravanException.class).isThrownBy(() -> await(lost));
            group.awaitNoLeader();
            for (String other : others) {
                group.restart(other);
            }
            append(group, acknowledged, "again");
            assertThat(valuesAt(group, group.awaitLeader())).containsAll(acknowledged);
        }
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
                    .isThrownBy(() -> GroupMember.start(group.config("b", true), new NobodyListens()))
                    .withMessageContaining("is not empty");
        }
    }

    @Test
    void hostsOfAGroupDifferInIdAndAddress() throws Exception {
        try (Group group = new Group(directory)) {
            GroupConfig config = group.config("a", true);
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
                config.create(),
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
