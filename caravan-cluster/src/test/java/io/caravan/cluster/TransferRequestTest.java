package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the request by which a leader transfers leadership to another node. */
@LongTimeout
final class TransferRequestTest {
    /**
     * The Ratis hook that runs when a follower receives a transfer request. Ratis also calls it for the nodes of other
     * tests.
     */
    private static final String REQUEST = "RaftServerImpl.startLeaderElection";

    private static final long LIST = 7;
    /** The number of elections after which a node that does not transfer leadership fails the test. */
    private static final int MAX_ELECTIONS = 5;

    @TempDir
    Path directory;

    @AfterEach
    void removeHook() {
        CodeInjectionForTesting.remove(REQUEST);
    }

    private Group group(String... nodes) throws IOException {
        return new Group(directory, node -> null, Group.freeNodes(nodes)).create();
    }

    private static boolean followsAnother(Group group, String node) {
        return group.member(node)
                .leader()
                .filter(leader -> !leader.id().equals(node))
                .isPresent();
    }

    /** Tests a transfer whose request is lost because the connection ends. */
    @Test
    void retriesLostLeadershipTransfer() throws Exception {
        try (Group group = group("lost-l", "lost-m", "lost-n")) {
            Set<String> lost = ConcurrentHashMap.newKeySet();
            String next = group.follower();
            CodeInjectionForTesting.put(REQUEST, (node, from, request) -> {
                if (next.equals(String.valueOf(node)) && lost.add(next)) {
                    throw new IllegalStateException("the request to lead is lost");
                }
                return false;
            });
            while (group.store(next) == null || lost.isEmpty()) {
                group.transferUnlessElected(group.store(next) == null ? next : group.follower(), Duration.ofMinutes(1));
            }
        }
    }

    /**
     * Tests that an elected node that cannot read its disk transfers leadership. Without the transfer, the node would
     * lead until it steps down because its group makes no progress.
     */
    @Test
    void electedNodeTransfersLeadershipWhileItCannotReopenStore() throws Exception {
        try (Group group = group("shut-l", "shut-m", "shut-n")) {
            Set<String> senders = ConcurrentHashMap.newKeySet();
            CodeInjectionForTesting.put(REQUEST, (node, from, request) -> {
                senders.add(String.valueOf(from));
                return false;
            });
            String node = group.failStoreOfFollower(LIST);
            Path store = group.storeDirectory(node);
            Path aside = store.resolveSibling("aside");
            Files.move(store, aside);
            Files.createFile(store);
            for (int elections = 0; !senders.contains(node); elections++) {
                assertThat(elections).as("elections without a transfer").isLessThan(MAX_ELECTIONS);
                // On a busy machine, another node may be elected.
                group.transferUnlessElected(node, Duration.ofSeconds(5));
                Eventually.await(
                        "node " + node + " no longer leads",
                        () -> senders.contains(node) || followsAnother(group, node));
            }
            group.append(LIST, "second, while the store is closed");
            Files.delete(store);
            Files.move(aside, store);
            group.append(LIST, "third");
            group.assertAllAlike();
        }
    }
}
