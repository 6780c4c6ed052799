package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.FlushPolicy;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Tests of groups whose nodes have different settings. Nodes reject a node if a setting differs that must be the same
 * on all nodes. Other settings may differ.
 */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class ConfigurationDriftTest {
    private static final long LIST = 7;
    private static final int KIB = 1024;
    /** A value length that exceeds the default size of the log buffers in {@link Group}. */
    private static final int LARGE = 20 * KIB;

    @TempDir
    Path directory;

    private static StoreConfig.Builder larger(StoreConfig.Builder store) {
        return store.maxValueBytes(LARGE).logBufferBytes(24 * KIB);
    }

    /** Makes this node the leader. */
    private static void lead(Group group, String node) {
        Eventually.await("node " + node + " leads", () -> group.store(node) != null || group.handedOver(node));
    }

    /** Appends a value on this node as the leader. Retries if the node loses leadership. */
    private static void append(Group group, String node, long list, byte[] value) {
        Eventually.await("node " + node + " takes a value", () -> {
            lead(group, node);
            DurableListStore store = group.store(node);
            try {
                if (store == null) {
                    return false;
                }
                await(store.append(list, value));
                return true;
            } catch (CaravanException lost) {
                System.out.println("leadership was lost: " + lost.getMessage());
                return false;
            }
        });
    }

    /**
     * Raises the maximum value length on one node, which then leads and accepts a value larger than the other nodes'
     * buffers.
     */
    @Test
    @Tag("slow")
    void valueLargerThanFollowerBuffersReachesAllNodes() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "before");
            group.stop("a");
            group.settings((node, store) -> node.equals("a") ? larger(store) : store);
            group.restart("a");
            lead(group, "a");
            group.stop("c");
            append(group, "a", LIST, new byte[LARGE]);

            // Of the nodes that restart, only b has the value. Despite its smaller buffers, b reads the value from its
            // Raft log and sends it to c.
            group.stop(List.of("a", "b"));
            group.restart(List.of("b", "c"));
            assertThat(group.values(LIST))
                    .as("the next leader has it")
                    .filteredOn(value -> value.length() == LARGE)
                    .isNotEmpty();
            group.restart("a");
            group.append(LIST, "the last");
            group.assertAllAlike();
        }
    }

    /** Tests that a node whose log segment size differs from that of the other nodes is rejected at its first start. */
    @Test
    void rejectsDifferentLogSegmentSizeAtGroupCreation() throws Exception {
        try (Group group = new Group(directory)
                .settings((node, store) -> node.equals("c") ? store.logSegmentBytes(64 * KIB) : store)) {
            group.create("a", "b");
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> group.start("c", GroupConfig.Start.CREATE))
                    .withMessageContaining("logSegmentBytes is 65536 on this node, c, but 32768 on node")
                    .withMessageContaining("at its first start, start this node with the setting");
            assertThat(group.raftDirectory("c")).doesNotExist();

            group.settings((node, store) -> store);
            group.start("c", GroupConfig.Start.CREATE);
            group.append(LIST, "the last");
            group.assertAllAlike();
        }
    }

    /** Tests that nodes ignore queries for other group ids, and that no node with a different segment size can join. */
    @Test
    void ignoresOtherGroupAndRejectsJoinWithOtherSegments() throws Exception {
        try (Group group = new Group(directory).create()) {
            group.append(LIST, "value");
            try (LeaderLookup lookup = new LeaderLookup(UUID.randomUUID(), null, Duration.ofSeconds(30))) {
                assertThat(lookup.facts(group.nodes().get(0), "d")).isEmpty();
            }
            try (LeaderLookup lookup = new LeaderLookup(group.id(), null, Duration.ofSeconds(30))) {
                assertThat(lookup.facts(group.nodes().get(0), "d"))
                        .contains(new NodeFacts(FrameEntry.FORMAT_LEVEL, 32 * KIB, false));
            }
            group.settings((node, store) -> node.equals("d") ? store.logSegmentBytes(64 * KIB) : store);
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> group.join("d"))
                    .withMessageContaining("logSegmentBytes is 65536 on this node, d, but 32768 on node");
            assertThat(group.raftDirectory("d")).doesNotExist();
        }
    }

    /**
     * Tests a node that has a different segment size, and starts with wrong addresses for the other nodes. It cannot
     * query them, so only the first frame reveals that the segment size differs.
     */
    @Test
    @Tag("slow")
    void nodeLeavesAtFirstFrameIfSegmentSizeDiffers() throws Exception {
        try (Group group = new Group(directory)
                .settings((node, store) -> node.equals("c") ? store.logSegmentBytes(64 * KIB) : store)) {
            group.create("a", "b");
            String acknowledged = group.append(LIST, "value");
            GroupConfig config = group.config("c", GroupConfig.Start.CREATE);
            List<Node> nodes = Stream.concat(Group.freeNodes("a", "b").stream(), Stream.of(config.selfNode()))
                    .toList();
            try (GroupMember other =
                    GroupMember.start(Group.withNodes(config, nodes), new GroupFaultsTest.NoListener())) {
                Eventually.await("it has left", () -> !other.takesPart());
            }
            assertThat(group.values(LIST)).contains(acknowledged);
        }
    }

    @Test
    @Tag("slow")
    void groupWorksWhenOtherSettingsDiffer() throws Exception {
        try (Group group = new Group(directory).settings((node, store) -> switch (node) {
            case "a" -> larger(store).flushPolicy(FlushPolicy.adaptive());
            case "b" -> store.heapSegmentBytes(128 * KIB).checkpointFloorBytes(0);
            default -> store.maxHeapBytes(1 << 30).checkpointFraction(0.1);
        })) {
            group.create();
            for (String leader : List.of("a", "b", "c")) {
                for (int i = 0; i < 20; i++) {
                    append(group, leader, i % 3, new byte[leader.equals("a") ? LARGE : 4 * KIB]);
                }
            }
            group.append(LIST, "the last");
            group.assertAllAlike();
        }
    }
}
