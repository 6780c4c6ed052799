package io.caravan.bench.torture;

import static io.caravan.bench.torture.GroupFault.CUT_OFF_ALL;
import static io.caravan.bench.torture.GroupFault.CUT_OFF_LEADER;
import static io.caravan.bench.torture.GroupFault.DEAFEN_LEADER;
import static io.caravan.bench.torture.GroupFault.KEEP_FOLLOWER_AWAY;
import static io.caravan.bench.torture.GroupFault.PAUSE_LEADER;

import io.caravan.testing.simulator.SourceEdit;
import java.util.List;

/** Faults of {@code caravan-cluster} that the torture of a group must catch. */
enum GroupSabotage {
    /** A leader that is replaced makes what it has proposed, though the group goes on without it. */
    APPLIES_WHAT_IS_NOT_COMMITTED(
            List.of(CUT_OFF_LEADER, DEAFEN_LEADER, PAUSE_LEADER),
            new SourceEdit(
                    "cluster/RaftCommitLog",
                    "propose.accept(copy, proposal);",
                    "lastCommitted = copy; propose.accept(copy, proposal);")),
    /** The store of a leader that is replaced does not fail: what waits for the group is acknowledged. */
    ACKNOWLEDGES_WHEN_LEADERSHIP_IS_LOST(
            List.of(CUT_OFF_LEADER, CUT_OFF_ALL, DEAFEN_LEADER),
            new SourceEdit("cluster/RaftCommitLog", "pending.fail(why);", "pending.commit();"),
            new SourceEdit("cluster/GroupStateMachine", "proposal.fail(problem);", "proposal.commit();")),
    /** A host that got files drops the next frame, and goes on without a word until it is started again. */
    FORGETS_A_FRAME_AFTER_FILES(
            List.of(KEEP_FOLLOWER_AWAY),
            new SourceEdit("cluster/GroupReplica", "mark.replaced(copied);", "mark.replaced(copied); forget = true;"),
            new SourceEdit(
                    "cluster/GroupReplica",
                    "    private volatile Replica replica;",
                    "    private boolean forget; private volatile Replica replica;"),
            new SourceEdit(
                    "cluster/GroupReplica",
                    "        while (true) {\n            try {\n                replica.replay(frame);",
                    "        if (forget && Proposal.endLsn(frame) > replica.position()) { forget = false; return true; }\n"
                            + "        while (true) {\n            try {\n                replica.replay(frame);"),
            new SourceEdit(
                    "cluster/GroupReplica",
                    "if (Proposal.previousLsn(frame) >= replica.position()) {",
                    "if (System.nanoTime() == 1) {")),
    /** A strict read does not wait for the group. */
    READS_WITHOUT_ASKING(
            List.of(PAUSE_LEADER, CUT_OFF_LEADER),
            new SourceEdit(
                    "cluster/GroupMember",
                    "return confirmations.confirm();",
                    "return CompletableFuture.completedFuture(null);"));

    private final List<GroupFault> faults;
    private final List<SourceEdit> edits;

    GroupSabotage(List<GroupFault> faults, SourceEdit... edits) {
        this.faults = faults;
        this.edits = List.of(edits);
    }

    /** Those that bring it to light soon. */
    List<GroupFault> faults() {
        return faults;
    }

    List<SourceEdit> edits() {
        return edits;
    }
}
