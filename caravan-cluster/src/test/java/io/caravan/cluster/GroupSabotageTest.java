package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.caravan.testing.simulator.SabotagedBuild;
import io.caravan.testing.simulator.SourceEdit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Builds this module with a deliberate fault, and runs the test that must detect the fault. The test must fail, but
 * must pass in a build without the fault.
 */
final class GroupSabotageTest {
    /** Deliberate faults in the code of a group, and the tests that must detect them. */
    enum Sabotage {
        ACKNOWLEDGES_AT_THE_LEADERS_FORCE(
                RaftFrameReplicatorTest.class,
                "waitsUntilGroupCommitsFrame",
                new SourceEdit("cluster/RaftFrameReplicator", "            commit.join();\n", "")),
        MAKES_WHAT_IS_NOT_COMMITTED(
                RaftFrameReplicatorTest.class,
                "lastCommittedIgnoresUncommittedFrames",
                new SourceEdit(
                        "cluster/RaftFrameReplicator",
                        "propose.accept(made, commit);",
                        "lastCommitted = new byte[frame.remaining()]; frame.get(frame.position(), lastCommitted);"
                                + " propose.accept(made, commit);")),
        CONTINUES_AFTER_REPLACEMENT(
                RaftFrameReplicatorTest.class,
                "proposesNothingAfterEndOfTerm",
                new SourceEdit(
                        "cluster/RaftFrameReplicator",
                        "throw new IOException(\"this node is no longer the leader\", abandoned);",
                        "return CompletableFuture.completedFuture(null);")),
        ACKNOWLEDGES_WHEN_LEADERSHIP_IS_LOST(
                RaftFrameReplicatorTest.class,
                "endOfTermFailsPendingCommit",
                new SourceEdit(
                        "cluster/RaftFrameReplicator",
                        "pending.completeExceptionally(why);",
                        "pending.complete(null);")),
        SKIPS_FRAME_AFTER_SNAPSHOT(
                GroupReplicaTest.class,
                "replaysFramesAfterSnapshot",
                new SourceEdit(
                        "cluster/GroupReplica", "mark.replaced(copied);", "mark.replaced(copied); forgets = true;"),
                new SourceEdit(
                        "cluster/GroupReplica",
                        "    private volatile Replica replica;",
                        "    private boolean forgets; private volatile Replica replica;"),
                new SourceEdit(
                        "cluster/GroupReplica",
                        "                replica.replay(frame);",
                        "                if (forgets) { forgets = false; return true; } replica.replay(frame);")),
        LEAVES_OUT_WHAT_IT_CANNOT_APPLY(
                GroupReplicaTest.class,
                "failsOnFrameThatCannotBeApplied",
                new SourceEdit(
                        "cluster/GroupReplica", "if (!rejected.placeTaken()) {", "if (closing.getAsBoolean()) {")),
        TAKES_ANY_LOG_SEGMENTS(
                GroupReplicaTest.class,
                "failsOnFrameThatCannotBeApplied",
                new SourceEdit("cluster/GroupReplica", "leaders != own", "leaders == 1")),
        TAKES_FRAMES_UP_TO_ITS_OWN_BUFFERS_ONLY(
                ConfigurationDriftTest.class,
                "valueLargerThanFollowerBuffersReachesAllNodes",
                new SourceEdit(
                        "cluster/GroupReplica",
                        "                replica.replay(frame);",
                        "                if (frame.remaining() > config.store().logBufferBytes()) { return false; }"
                                + " replica.replay(frame);")),
        DOES_NOT_COMPARE_SETTINGS(
                ConfigurationDriftTest.class,
                "rejectsDifferentLogSegmentSizeAtGroupCreation",
                new SourceEdit("cluster/Membership", "facts.logSegmentBytes() != segmentBytes", "segmentBytes == 1")),
        REPLIES_BEFORE_VOTE_IS_DURABLE(
                RaftRpcGuardTest.class,
                "sendsVoteOnlyAfterFsync",
                new SourceEdit("cluster/RaftRpcGuard", "                            forceVote();\n", "")),
        COMMITS_AN_ENTRY_THAT_THE_LEADER_DID_NOT_CONFIRM(
                RaftRpcGuardTest.class,
                "followerDoesNotCommitConflictingFirstEntry",
                new SourceEdit("cluster/RaftRpcGuard", "setLeaderCommit(last)", "setLeaderCommit(last + 1)")),
        CONFIRMS_ENTRIES_BEFORE_THEY_ARE_DURABLE(
                RaftRpcGuardTest.class,
                "confirmsEntriesAfterFsync",
                new SourceEdit("cluster/RaftRpcGuard", "< reply.getMatchIndex()", "< 0")),
        RETURNS_TO_EARLIER_MEMBERS(
                RaftRpcGuardTest.class,
                "followerKeepsNewestMembersIfEarlierRequestsArriveLate",
                new SourceEdit("cluster/RaftRpcGuard", "if (membersFollow\n", "if (false\n")),
        ENDS_A_TERM_FOR_AN_EARLIER_ONE(
                GroupStateMachineTest.class,
                "failureOfEarlierTermDoesNotEndCurrentTerm",
                new SourceEdit("cluster/GroupStateMachine", "term != null && term.waitsFor(commit)", "term != null")),
        CONFIRMS_WITHOUT_QUORUM(
                GroupFaultsTest.class,
                "commitsAndConfirmsNothingUntilMajorityReturns",
                new SourceEdit(
                        "cluster/GroupMember",
                        "return confirmations.confirm();",
                        "return java.util.concurrent.CompletableFuture.completedFuture(null);"));

        private final Class<?> test;
        private final String method;
        private final List<SourceEdit> edits;

        Sabotage(Class<?> test, String method, SourceEdit... edits) {
            this.test = test;
            this.method = method;
            this.edits = List.of(edits);
        }
    }

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(Sabotage.class)
    void editsApplyToSource(Sabotage sabotage) throws IOException {
        assertThat(SabotagedBuild.sources(Path.of(""), sabotage.edits)).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(Sabotage.class)
    @Tag("thorough")
    void detectsSabotage(Sabotage sabotage) throws Exception {
        assertThat(run(sabotage, List.of(), "honest").getFailures()).isEmpty();
        List<TestExecutionSummary.Failure> failures =
                run(sabotage, sabotage.edits, "sabotaged").getFailures();
        assertThat(failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure.getException()).isInstanceOf(AssertionError.class));
        System.out.println(sabotage + " is caught by "
                + sabotage.test.getSimpleName() + "#" + sabotage.method + ": "
                + failures.get(0)
                        .getException()
                        .getMessage()
                        .strip()
                        .lines()
                        .findFirst()
                        .orElse(""));
    }

    private TestExecutionSummary run(Sabotage sabotage, List<SourceEdit> edits, String name) throws Exception {
        Class<?> test = SabotagedBuild.of(edits, directory.resolve(name)).loadClass(sabotage.test.getName());
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectMethod(test, sabotage.method))
                                .build(),
                        summary);
        assertThat(summary.getSummary().getTestsStartedCount()).isOne();
        return summary.getSummary();
    }
}
