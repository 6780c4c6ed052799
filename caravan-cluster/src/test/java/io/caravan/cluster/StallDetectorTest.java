package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The reaction of a leader whose group makes no progress. */
final class StallDetectorTest {
    private static final int PATIENCE = 4;

    private final InventedLeader leader = new InventedLeader();
    private final StallDetector watch = new StallDetector("a", leader, PATIENCE);

    private static final class InventedLeader implements StallDetector.Leader {
        private boolean waits = true;
        private long reached;
        private int emptyEntries;
        private int termsEnded;

        /** Whether the first of two followers gets the entries that the leader proposes; the other gets none. */
        private boolean oneFollows;
        /** The last entry of the other follower, or -1 if it has all. */
        private long other;

        private boolean leads = true;

        @Override
        public StallDetector.@Nullable Progress progress() {
            long last = 10 + reached + emptyEntries;
            return leads
                    ? new StallDetector.Progress(
                            waits, reached, last, List.of(oneFollows ? last : 0L, other < 0 ? last : other), List.of())
                    : null;
        }

        @Override
        public void proposeEmptyEntry() {
            emptyEntries++;
        }

        @Override
        public void stepDown() {
            termsEnded++;
        }
    }

    private void look(int times) {
        for (int i = 0; i < times; i++) {
            watch.look();
        }
    }

    @Test
    void nothingHappensWhileTheGroupMoves() {
        for (int i = 0; i < 3 * PATIENCE; i++) {
            leader.reached++;
            watch.look();
        }
        assertThat(leader.emptyEntries).isZero();
        assertThat(leader.termsEnded).isZero();
    }

    @Test
    void nothingHappensWhenNothingIsWaitedFor() {
        leader.waits = false;
        leader.oneFollows = true;
        leader.other = -1;
        look(3 * PATIENCE);
        assertThat(leader.emptyEntries).isZero();
        assertThat(leader.termsEnded).isZero();
    }

    @Test
    void anEmptyEntryIsProposedWhenNothingHasMovedBetweenTwoLooks() {
        look(1);
        assertThat(leader.emptyEntries).isZero();
        look(1);
        assertThat(leader.emptyEntries).isOne();
        leader.reached++;
        look(1);
        assertThat(leader.emptyEntries).isOne();
    }

    /** Nodes may respond although a connection between them is dead. */
    @Test
    void aTermInWhichNothingMovesEnds() {
        look(PATIENCE);
        assertThat(leader.termsEnded).isZero();
        look(1);
        assertThat(leader.termsEnded).isOne();
        look(PATIENCE - 1);
        assertThat(leader.termsEnded).as("the next term has as long").isOne();
        look(1);
        assertThat(leader.termsEnded).isEqualTo(2);
    }

    /** A minority that gets the empty entries does not bring the commit closer. */
    @Test
    void aTermEndsAlthoughAMinorityGetsTheEmptyEntries() {
        leader.oneFollows = true;
        look(PATIENCE + 1);
        assertThat(leader.termsEnded).isOne();
    }

    /** Raft sends an entry again only when another one follows, if the connection on which it was sent has ended. */
    @Test
    void anEmptyEntryIsProposedOnceForAFollowerThatLacksTheLastEntry() {
        leader.waits = false;
        leader.oneFollows = true;
        leader.other = 7;
        look(1);
        assertThat(leader.emptyEntries).isZero();
        look(1);
        assertThat(leader.emptyEntries).isOne();
        look(3 * PATIENCE);
        assertThat(leader.emptyEntries).as("it may be down").isOne();
        leader.other = 8;
        look(2);
        assertThat(leader.emptyEntries).isEqualTo(2);
        assertThat(leader.termsEnded).isZero();
    }

    @Test
    void aNodeThatDoesNotLeadProposesNothing() {
        leader.leads = false;
        look(3 * PATIENCE);
        assertThat(leader.emptyEntries).isZero();
        assertThat(leader.termsEnded).isZero();
    }

    @Test
    void whatStoodBeforeATermIsNotCounted() {
        look(PATIENCE);
        leader.waits = false;
        look(1);
        leader.waits = true;
        look(PATIENCE);
        assertThat(leader.termsEnded).isZero();
    }
}
