package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
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

        @Override
        public boolean waits() {
            return waits;
        }

        @Override
        public List<Long> howFar() {
            return List.of(reached);
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
