package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CaravanException;
import io.caravan.Replica;
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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests nodes whose store is damaged, fails, or cannot be used by the listener. */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class GroupStoreFaultsTest {
    private static final long LIST = 7;
    /** The number of appends whose total size exceeds a sixteenth of the retained Raft log. */
    private static final int APPENDS_UNTIL_PURGE = 40;

    @TempDir
    Path directory;

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
        Path segment = GroupFaultsTest.segments(group.raftFiles(node)).stream()
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
}
