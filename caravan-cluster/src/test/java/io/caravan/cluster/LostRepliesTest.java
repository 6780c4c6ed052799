package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.testing.LongTimeout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of followers that have an entry, but whose replies are lost because their connections end. */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class LostRepliesTest {
    private static final long LIST = 7;
    private static final int ATTEMPTS = 20;
    /** The prefix of this test's node ids. Ratis also calls the hooks for the nodes of other tests. */
    private static final String PREFIX = "lost-";
    /** The Ratis hook that runs when a follower receives a request from its leader. */
    private static final String REQUEST = "RaftServerImpl.appendEntries";
    /** The Ratis hook that runs after a follower has appended the entries and before it replies. */
    private static final String BEFORE_THE_REPLY = REQUEST + ".logComplete";
    /**
     * The delay before a reply is lost. Ratis waits for a reply during two election timeouts of 200 ms, and longer on a
     * busy machine. If the reply is lost earlier, Ratis resends the entry, so later attempts use a longer delay.
     */
    private static final Duration TOO_LATE = Duration.ofMillis(500);

    private volatile Duration replyDelay = TOO_LATE;

    /** The nodes whose next reply to a frame is lost. */
    private final Set<String> deaf = ConcurrentHashMap.newKeySet();

    /** Whether the request that this thread is handling contains a frame. */
    private final ThreadLocal<Boolean> hasFrame = ThreadLocal.withInitial(() -> false);

    private final AtomicInteger emptyEntries = new AtomicInteger();

    @TempDir
    Path directory;

    @BeforeEach
    void loseReplies() {
        CodeInjectionForTesting.put(REQUEST, (node, from, request) -> {
            hasFrame.set(false);
            if (String.valueOf(node).startsWith(PREFIX)) {
                ((AppendEntriesRequestProto) request[1]).getEntriesList().forEach(this::check);
            }
            return true;
        });
        CodeInjectionForTesting.put(BEFORE_THE_REPLY, (node, from, more) -> loseReply(String.valueOf(node)));
    }

    @AfterEach
    void replyAgain() {
        CodeInjectionForTesting.remove(REQUEST);
        CodeInjectionForTesting.remove(BEFORE_THE_REPLY);
    }

    /** Tests that, if no other frame follows, an empty entry commits a frame that Ratis does not resend. */
    @Test
    void entryWithLostRepliesIsCommittedWithNextEntry() throws Exception {
        try (Group group = new Group(directory, node -> null, Group.freeNodes(PREFIX + "x", PREFIX + "y", PREFIX + "z"))
                .create()) {
            for (int attempt = 0; !appendsByAnEmptyEntry(group, attempt); attempt++) {
                assertThat(attempt)
                        .as("attempts, some of which elections on a busy machine may spoil")
                        .isLessThan(ATTEMPTS);
            }
        }
    }

    private void check(LogEntryProto entry) {
        if (entry.hasStateMachineLogEntry()) {
            boolean frame = !entry.getStateMachineLogEntry().getLogData().isEmpty();
            hasFrame.set(hasFrame.get() || frame);
            emptyEntries.addAndGet(frame ? 0 : 1);
        }
    }

    private boolean loseReply(String node) {
        if (!hasFrame.get() || !deaf.remove(node)) {
            return false;
        }
        LockSupport.parkNanos(replyDelay.toNanos());
        throw new IllegalStateException("the reply of node " + node + " is lost");
    }

    private boolean appendsByAnEmptyEntry(Group group, int attempt) {
        String leader = group.awaitLeader();
        DurableListStore store = Objects.requireNonNull(group.store(leader));
        long term = group.member(leader).term();
        emptyEntries.set(0);
        replyDelay = TOO_LATE.multipliedBy(1 + attempt / 3);
        deaf.addAll(group.others(leader));
        try {
            await(store.append(LIST, bytes("value " + attempt)));
        } catch (CaravanException lost) {
            System.out.println("attempt " + attempt + ": " + lost.getMessage());
            return false;
        }
        return deaf.isEmpty() && emptyEntries.get() > 0 && group.member(leader).term() == term;
    }
}
