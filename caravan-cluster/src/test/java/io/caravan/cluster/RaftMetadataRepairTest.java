package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of nodes whose Raft metadata files are empty or truncated after a failed write. */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class RaftMetadataRepairTest {
    private static final long LIST = 7;

    @TempDir
    Path directory;

    private static Path meta(Group group, String node) {
        return group.raftFiles(node).resolve("raft-meta");
    }

    private static long term(Path meta) throws IOException {
        Properties lines = new Properties();
        lines.load(Files.newBufferedReader(meta));
        return Long.parseLong(lines.getProperty("term"));
    }

    private static void cutOff(Path file, int bytes) throws IOException {
        byte[] whole = Files.readAllBytes(file);
        assertThat(bytes).isLessThan(whole.length);
        Files.write(file, Arrays.copyOf(whole, bytes));
    }

    @Test
    @Tag("slow")
    void nodeWithLostTermResumesInMuchLaterTerm() throws Exception {
        try (Group group = new Group(directory).create()) {
            String before = group.append(LIST, "before");
            for (String node : List.of(group.follower(), group.awaitLeader())) {
                long term = group.member(node).term();
                group.stop(node);
                cutOff(meta(group, node), 0);
                group.restart(node);
                long ahead = term(group.raftFiles(node).resolveSibling("sm/term-at-start"));
                assertThat(ahead).isGreaterThan(term + 1_000);
                Eventually.await(
                        "all are in its term or a later one",
                        () -> group.nodes().stream()
                                .allMatch(each -> group.member(each.id()).term() >= ahead));
                group.append(LIST, "without the term of " + node);
                group.awaitAllAlike();
            }
            assertThat(group.values(LIST)).contains(before);
        }
    }

    @Test
    @Tag("slow")
    void groupRecoversIfAllNodesLoseTheirTerm() throws Exception {
        try (Group group = new Group(directory).create()) {
            List<String> all = List.of("a", "b", "c");
            List<String> acknowledged = new ArrayList<>();
            acknowledged.add(group.append(LIST, "before"));
            for (int time = 0; time < 2; time++) {
                group.stop(all);
                for (String node : all) {
                    cutOff(meta(group, node), 0);
                }
                group.restart(all);
                acknowledged.add(group.append(LIST, "after " + time));
            }
            assertThat(group.values(LIST)).containsAll(acknowledged);
        }
    }

    /** Tests that a truncated term is replaced, even though its remaining digits are a valid number. */
    @Test
    void replacesTruncatedTerm() throws Exception {
        Path group = Files.createDirectories(directory.resolve("group/current")).getParent();
        Path meta = group.resolve("current/raft-meta");
        String whole = "#\n#Wed Nov 25 19:53:39 UTC 2026\nvotedFor=b\nterm=216\n";
        Files.writeString(meta, whole);
        RaftMetadataRepair.prepare(group, "a");
        assertThat(meta).as("intact files stay").hasContent(whole);
        for (int bytes = 0; bytes < whole.length(); bytes++) {
            Files.write(meta, Arrays.copyOf(whole.getBytes(StandardCharsets.US_ASCII), bytes));
            long kept = term(group.resolve("sm/term-at-start"));
            RaftMetadataRepair.prepare(group, "a");
            assertThat(term(meta)).as("cut off after " + bytes).isGreaterThanOrEqualTo(kept + RaftMetadataRepair.LEAP);
            assertThat(Files.readString(meta)).as("no vote is left for others").contains("votedFor=a\n");
        }
    }

    @Test
    void laterRepairYieldsHigherTerm() {
        long now = 1_764_000_000_000L;
        long ahead = RaftMetadataRepair.ahead(7, now);
        assertThat(ahead).isGreaterThan(7 + RaftMetadataRepair.LEAP);
        assertThat(RaftMetadataRepair.ahead(7, now + 1)).isGreaterThan(ahead + 1_000);
        assertThat(RaftMetadataRepair.ahead(ahead, now - 3_600_000))
                .as("the clock was set back")
                .isGreaterThanOrEqualTo(ahead + RaftMetadataRepair.LEAP);
        assertThat(RaftMetadataRepair.ahead(ahead, now + 1))
                .as("two stand where one has gone ahead already")
                .isGreaterThan(RaftMetadataRepair.ahead(ahead, now) + 1_000);
    }

    @Test
    void restoresTermAndMembersFromLogOrRejectsStart() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "before");
            group.awaitAllAlike();
            String node = group.follower();
            group.stop(node);
            assertTermIsNoOlderThanTheLog(group, node);
            Path file = group.raftFiles(node).resolve("raft-meta.conf");
            LogEntryProto whole = LogEntryProto.parseFrom(Files.readAllBytes(file));
            int half = whole.getSerializedSize() / 2;
            for (int bytes : new int[] {0, half}) {
                cutOff(file, bytes);
                RaftMetadataRepair.prepare(group.raftFiles(node).getParent(), node);
                LogEntryProto repaired = LogEntryProto.parseFrom(Files.readAllBytes(file));
                assertThat(repaired.getConfigurationEntry()).isEqualTo(whole.getConfigurationEntry());
            }
            group.restart(node);
            group.append(LIST, "after");
            group.awaitAllAlike();
            assertThat(group.member(node).nodes()).containsExactlyInAnyOrderElementsOf(group.nodes());

            group.stop(node);
            assertRestoresMembersFromCopyAlone(file);

            // Without a list of the members, Raft would use the members of the first start.
            cutOff(file, 0);
            Files.delete(copy(file));
            assertThatThrownBy(() -> group.restart(node))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("has lost the members of the group");
            assertThat(file).isEmptyFile();
        }
    }

    private static Path copy(Path file) {
        return file.resolve("../../sm/members").normalize();
    }

    /** Checks that a node restores its group's members after the entry that lists them has been purged from the log. */
    private static void assertRestoresMembersFromCopyAlone(Path file) throws IOException {
        for (RaftSegments.Segment segment : RaftSegments.of(file.resolveSibling("."))) {
            Files.delete(segment.file());
        }
        byte[] older = Files.readAllBytes(file);
        LogEntryProto nodes = LogEntryProto.parseFrom(older);
        byte[] newest = nodes.toBuilder().setIndex(nodes.getIndex() + 1).build().toByteArray();
        Files.write(copy(file), newest);
        for (byte[] found : List.of(new byte[0], Arrays.copyOf(newest, newest.length / 2), older)) {
            Files.write(file, found);
            RaftMetadataRepair.prepare(file.getParent().getParent(), "a");
            assertThat(file).hasBinaryContent(newest);
        }
    }

    /** Tests that the copy follows Raft's report if an entry replaces an uncommitted one that has a higher index. */
    @Test
    void copyFollowsReportsOfRaft() throws Exception {
        LogEntryProto nodes = LogEntryProto.newBuilder()
                .setConfigurationEntry(RaftConfigurationProto.getDefaultInstance())
                .build();
        for (long index : new long[] {7, 5}) {
            LogEntryProto reported = nodes.toBuilder().setIndex(index).build();
            RaftMetadataRepair.keepNodes(directory, reported);
            assertThat(directory.resolve("members")).hasBinaryContent(reported.toByteArray());
        }
    }

    /**
     * Tests that a node that cannot record its group's members leaves the group, because Raft may purge a membership
     * entry once it is recorded.
     */
    @Test
    void nodeThatCannotRecordMembersLeavesItsGroup() throws Exception {
        try (Group group = new Group(directory).create()) {
            String leader = group.awaitLeader();
            String node = group.follower();
            Path copy = copy(group.raftFiles(node).resolve("raft-meta.conf"));
            Eventually.await("the members are recorded", () -> Files.exists(copy));
            byte[] before = Files.readAllBytes(copy);
            Path inTheWay = Files.createDirectory(copy.resolveSibling("members.tmp"));
            String next = group.nodes().stream()
                    .map(Node::id)
                    .filter(each -> !each.equals(node) && !each.equals(leader))
                    .findFirst()
                    .orElseThrow();
            group.transferUnlessElected(next, Duration.ofSeconds(5));
            Eventually.await("it has left", () -> !group.member(node).takesPart());
            assertThat(copy).hasBinaryContent(before);
            Files.delete(inTheWay);
            group.stop(node);
            group.restart(node);
            group.append(LIST, "after");
            group.awaitAllAlike();
            assertThat(copy).hasSameBinaryContentAs(group.raftFiles(node).resolve("raft-meta.conf"));
        }
    }

    /**
     * Checks that a node does not return to an older term. A power failure may restore the file of an older term, whose
     * leader could then truncate later entries.
     */
    private static void assertTermIsNoOlderThanTheLog(Group group, String node) throws IOException {
        long newest = term(meta(group, node));
        Files.writeString(meta(group, node), "votedFor=b\nterm=" + (newest - 1) + "\n");
        RaftMetadataRepair.prepare(group.raftFiles(node).getParent(), node);
        assertThat(term(meta(group, node))).isEqualTo(newest);
        assertThat(Files.readString(meta(group, node))).contains("votedFor=" + node + "\n");
    }

    /**
     * Tests that a repaired term exceeds the term of the last entry. The entry comes from a node that has lost its term
     * twice, so its term is ahead of every clock.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void repairedTermExceedsLoggedOrAppliedTerm(boolean applied) throws Exception {
        long far = RaftMetadataRepair.ahead(RaftMetadataRepair.ahead(7, System.currentTimeMillis()), 0) + 1;
        Path current = Files.createDirectories(directory.resolve("group/current"));
        Path meta = Files.createFile(current.resolve("raft-meta"));
        if (applied) {
            Path own = Files.createDirectories(current.resolveSibling("sm"));
            new AppliedIndex(own).replaced(new AppliedIndex.Applied(TermIndex.valueOf(far, 9), 100));
        } else {
            try (OutputStream log = Files.newOutputStream(current.resolve("log_inprogress_0"))) {
                log.write(new byte[8]);
                LogEntryProto.newBuilder().setTerm(far).setIndex(0).build().writeDelimitedTo(log);
            }
        }
        RaftMetadataRepair.prepare(current.getParent(), "a");
        assertThat(term(meta)).isGreaterThanOrEqualTo(far + RaftMetadataRepair.LEAP);
    }
}
