package io.caravan.cluster;

import io.caravan.testing.LongTimeout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a leadership transfer whose request is lost because the connection ends. */
@LongTimeout
final class LostTransferTest {
    /**
     * The Ratis hook that runs when a follower receives a transfer request. Ratis also calls it for the nodes of other
     * tests.
     */
    private static final String REQUEST = "RaftServerImpl.startLeaderElection";

    @TempDir
    Path directory;

    @Test
    void retriesLostLeadershipTransfer() throws Exception {
        try (Group group = new Group(directory, node -> null, Group.freeNodes("lost-l", "lost-m", "lost-n")).create()) {
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
        } finally {
            CodeInjectionForTesting.remove(REQUEST);
        }
    }
}
