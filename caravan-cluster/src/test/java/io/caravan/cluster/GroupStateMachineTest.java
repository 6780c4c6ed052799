package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Patient;
import io.caravan.testing.StoreCalls;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a host does that Raft tells something at a bad moment. */
@Patient
final class GroupStateMachineTest {
    @TempDir
    Path directory;

    /** Raft waits until committed entries are applied; the term is over, and a host that closes does not follow any more. */
    @Test
    void aLeaderThatClosesAppliesNothingMore() throws Exception {
        try (Group group = new Group(directory)) {
            GroupStateMachine state = new GroupStateMachine(
                    group.config("a", GroupConfig.Start.CREATE),
                    new GroupFaultsTest.NobodyListens(),
                    (frame, proposal) -> {},
                    () -> false);
            RaftCommitLog term = new RaftCommitLog((entry, proposal) -> {}, StoreCalls::copyOf);
            term.abandon(new IOException("the host is closing"));
            Field leading = GroupStateMachine.class.getDeclaredField("leading");
            leading.setAccessible(true);
            leading.set(state, term);
            state.giveUp();
            CompletableFuture<Void> applied = CompletableFuture.runAsync(() -> state.applyTransaction(entry(state)));
            assertThat(applied).succeedsWithin(30, TimeUnit.SECONDS);
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
