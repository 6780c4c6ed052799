package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests how a leader reacts to a group that makes no progress. */
final class StallDetectorTest {
    private static final int CHECKS_UNTIL_STEP_DOWN = 4;

    private final InventedLeader leader = new InventedLeader();
    private final StallDetector watch = new StallDetector("a", CHECKS_UNTIL_STEP_DOWN);

    private static final class InventedLeader {
        private boolean waits = true;
        private long reached;
        private int emptyEntries;
        private int termsEnded;

        /** Whether the first of two followers receives the entries that the leader proposes. */
        private boolean oneFollows;
        /** The index of the second follower's last entry, or -1 if this follower has all entries. */
        private long other;

        private boolean leads = true;

        private StallDetector.@Nullable Progress progress() {
            long last = 10 + reached + emptyEntries;
            return leads
                    ? new StallDetector.Progress(
                            waits, reached, last, List.of(oneFollows ? last : 0L, other < 0 ? last : other), List.of())
                    : null;
        }
    }

    private void check(int times) {
        for (int i = 0; i < times; i++) {
            switch (watch.check(leader.progress())) {
                case PROPOSE_EMPTY_ENTRY -> leader.emptyEntries++;
                case STEP_DOWN -> leader.termsEnded++;
                case NOTHING -> {}
            }
        }
    }

    @Test
    void doesNothingWhileGroupProgresses() {
        for (int i = 0; i < 3 * CHECKS_UNTIL_STEP_DOWN; i++) {
            leader.reached++;
            check(1);
        }
        assertThat(leader.emptyEntries).isZero();
        assertThat(leader.termsEnded).isZero();
    }

    @Test
    void doesNothingWhenNothingIsPending() {
        leader.waits = false;
        leader.oneFollows = true;
        leader.other = -1;
        check(3 * CHECKS_UNTIL_STEP_DOWN);
        assertThat(leader.emptyEntries).isZero();
        assertThat(leader.termsEnded).isZero();
    }

    @Test
    void proposesEmptyEntryAfterCheckWithoutProgress() {
        check(1);
        assertThat(leader.emptyEntries).isZero();
        check(1);
        assertThat(leader.emptyEntries).isOne();
        leader.reached++;
        check(1);
        assertThat(leader.emptyEntries).isOne();
    }

    /**
     * Tests that a leader steps down if its group makes no progress. Nodes may respond although a connection between
     * them is dead.
     */
    @Test
    void stepsDownAfterTermWithoutProgress() {
        check(CHECKS_UNTIL_STEP_DOWN);
        assertThat(leader.termsEnded).isZero();
        check(1);
        assertThat(leader.termsEnded).isOne();
        check(CHECKS_UNTIL_STEP_DOWN - 1);
        assertThat(leader.termsEnded).as("the next term has as long").isOne();
        check(1);
        assertThat(leader.termsEnded).isEqualTo(2);
    }

    /** Tests that empty entries that only a minority receives do not count as progress. */
    @Test
    void stepsDownIfOnlyMinorityReceivesEntries() {
        leader.oneFollows = true;
        check(CHECKS_UNTIL_STEP_DOWN + 1);
        assertThat(leader.termsEnded).isOne();
    }

    /**
     * Tests the entry that a leader proposes for a follower whose connection ended after an entry was sent. Raft
     * resends the entry only when another entry follows.
     */
    @Test
    void proposesOneEmptyEntryForLaggingFollower() {
        leader.waits = false;
        leader.oneFollows = true;
        leader.other = 7;
        check(1);
        assertThat(leader.emptyEntries).isZero();
        check(1);
        assertThat(leader.emptyEntries).isOne();
        check(3 * CHECKS_UNTIL_STEP_DOWN);
        assertThat(leader.emptyEntries).as("it may be down").isOne();
        leader.other = 8;
        check(2);
        assertThat(leader.emptyEntries).isEqualTo(2);
        assertThat(leader.termsEnded).isZero();
    }

    @Test
    void doesNothingOnFollower() {
        leader.leads = false;
        check(3 * CHECKS_UNTIL_STEP_DOWN);
        assertThat(leader.emptyEntries).isZero();
        assertThat(leader.termsEnded).isZero();
    }

    @Test
    void idleCheckResetsStallCount() {
        check(CHECKS_UNTIL_STEP_DOWN);
        leader.waits = false;
        check(1);
        leader.waits = true;
        check(CHECKS_UNTIL_STEP_DOWN);
        assertThat(leader.termsEnded).isZero();
    }
}
