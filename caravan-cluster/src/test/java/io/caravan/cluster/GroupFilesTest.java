package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of nodes that lag behind the retained Raft log, and receive a snapshot from the leader. */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class GroupFilesTest {
    private static final long LIST = 7;

    @TempDir
    Path directory;

    /** Stops a node, waits until the entries that it lacks are purged, and returns the node's id. */
    private static String stopUntilLogIsPurged(Group group) throws IOException {
        String away = group.follower();
        group.stop(away);
        group.appendUntilLogIsPurged(LIST + 1);
        return away;
    }

    private static void awaitFiles(Group group, String node) {
        Path incoming = group.storeDirectory(node).resolveSibling("store.incoming");
        long applied = group.member(node).appliedIndex();
        Eventually.await(
                "the node receives files, or has them",
                () -> Files.exists(incoming) || group.member(node).appliedIndex() > applied);
    }

    @Test
    @Tag("slow")
    void laggingNodeReceivesSnapshotAndCanLead() throws Exception {
        try (Group group = new Group(directory).create()) {
            String before = group.append(LIST, "before");
            String away = stopUntilLogIsPurged(group);
            String whileAway = group.append(LIST, "while away");

            group.restart(away);
            group.append(LIST, "meanwhile");
            group.awaitAllAlike();
            Eventually.await("the node that was away leads", () -> group.store(away) != null || group.handedOver(away));
            group.append(LIST, "after");

            assertThat(group.values(LIST)).contains(before, whileAway).doesNotHaveDuplicates();
            group.assertAllAlike();
        }
    }

    /** Stops a node repeatedly, at arbitrary points while it is receiving or installing a snapshot. */
    @Test
    @Tag("thorough")
    void resendsSnapshotAfterReceiverRestarts() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "before");
            String away = stopUntilLogIsPurged(group);
            for (int round = 0; round < 3; round++) {
                group.restart(away);
                awaitFiles(group, away);
                group.stop(away);
                group.append(LIST, "round " + round);
            }
            group.restart(away);
            group.append(LIST, "after");
            group.assertAllAlike();
        }
    }

    /**
     * Stops the leader during the copy. The next leader sends its own snapshot, and must remain the leader during the
     * copy, although only two nodes run.
     */
    @Test
    @Tag("slow")
    void nextLeaderSendsSnapshotAfterLeaderLoss() throws Exception {
        try (Group group = new Group(directory).election(Duration.ofSeconds(1)).create()) {
            String away = stopUntilLogIsPurged(group);
            group.append(LIST, "while away");
            String leader = group.awaitLeader();
            group.restart(away);
            awaitFiles(group, away);
            group.stop(leader);
            group.append(LIST, "after");
            group.awaitAllAlike();
            group.restart(leader);
            group.append(LIST, "all are back");
            group.assertAllAlike();
        }
    }
}
