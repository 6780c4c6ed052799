package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.StoreCalls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of notifications from Raft that arrive during a role change or after the end of a term. */
@LongTimeout
final class GroupStateMachineTest {
    private final ByteBuffer frame = ByteBuffer.allocate(100);
    private final List<CompletableFuture<Void>> proposed = new CopyOnWriteArrayList<>();
    private final RaftFrameReplicator term =
            new RaftFrameReplicator((entry, commit) -> proposed.add(commit), StoreCalls::copyOf);

    @TempDir
    Path directory;

    private static GroupStateMachine state(Group group) {
        return new GroupStateMachine(
                group.config("a", GroupConfig.Start.CREATE),
                new GroupFaultsTest.NoListener(),
                (frame, commit) -> {},
                () -> false,
                () -> false);
    }

    private CompletableFuture<Void> propose(GroupStateMachine state) throws Exception {
        setLeading(state, term);
        CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> commit(term, frame));
        Eventually.await("the frame is proposed", () -> !proposed.isEmpty());
        return waiting;
    }

    /**
     * Tests that Raft does not wait forever for a closing node to apply a committed entry. The term is over, but the
     * node no longer becomes a follower.
     */
    @Test
    void closingLeaderDoesNotBlockApply() throws Exception {
        try (Group group = new Group(directory)) {
            GroupStateMachine state = state(group);
            term.abandon(new IOException("the node is closing"));
            setLeading(state, term);
            state.stopRetries();
            CompletableFuture<Void> applied = CompletableFuture.runAsync(() -> state.applyTransaction(entry(state)));
            assertThat(applied).succeedsWithin(30, TimeUnit.SECONDS);
        }
    }

    /** Tests that a failure in an earlier term has no effect if Raft reports it after the node leads again. */
    @Test
    void failureOfEarlierTermDoesNotEndCurrentTerm() throws Exception {
        try (Group group = new Group(directory)) {
            GroupStateMachine state = state(group);
            CompletableFuture<Void> waiting = propose(state);

            state.commitFailed(new CompletableFuture<>(), new IOException("leadership was lost"));
            assertThat(term.isAbandoned()).isFalse();
            assertThat(waiting).isNotDone();

            state.commitFailed(proposed.get(0), new IOException("no majority"));
            assertThat(term.isAbandoned()).isTrue();
            assertThat(waiting).failsWithin(30, TimeUnit.SECONDS);
        }
    }

    /** Tests that a reply lost after the group has committed the frame does not end the term. */
    @Test
    void failureAfterCommitDoesNotEndTerm() throws Exception {
        try (Group group = new Group(directory)) {
            GroupStateMachine state = state(group);
            CompletableFuture<Void> waiting = propose(state);
            assertThat(term.committed(frame)).isTrue();
            state.commitFailed(proposed.get(0), new IOException("the connection has ended"));
            assertThat(term.isAbandoned()).isFalse();
            assertThat(waiting).succeedsWithin(30, TimeUnit.SECONDS);
        }
    }

    private static void setLeading(GroupStateMachine state, RaftFrameReplicator term)
            throws ReflectiveOperationException {
        Field leading = GroupStateMachine.class.getDeclaredField("leading");
        leading.setAccessible(true);
        leading.set(state, term);
    }

    private static void commit(RaftFrameReplicator term, ByteBuffer frame) {
        try {
            term.commit(frame);
        } catch (IOException lost) {
            throw new UncheckedIOException(lost);
        }
    }

    private static TransactionContext entry(GroupStateMachine state) {
        LogEntryProto entry = LogEntryProto.newBuilder()
                .setTerm(1)
                .setIndex(1)
                .setStateMachineLogEntry(
                        StateMachineLogEntryProto.newBuilder().setLogData(ByteString.copyFrom(new byte[100])))
                .build();
        return TransactionContext.newBuilder()
                .setStateMachine(state)
                .setLogEntry(entry)
                .build();
    }
}
