package io.caravan.cluster;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects a stalled leader: checks for progress once per election timeout.
 *
 * <p>If a connection breaks after a follower has fsynced an entry but before the follower has confirmed it, Ratis
 * considers the entry sent. Ratis requests no confirmation until it has a later entry to send. A proposer that waits
 * for each entry before it proposes the next would wait forever, although a majority has the entry. Therefore an empty
 * entry is proposed if nothing has changed between two checks: its confirmation covers all earlier entries.
 *
 * <p>If the group still makes no progress for a longer time, the term is ended, even if the other nodes respond. The
 * next term uses new connections, or has another leader. The term also ends if the leader cannot apply previously
 * committed entries, for example because its disk is full: such a leader cannot serve requests.
 */
final class StallDetector {
    private static final Logger LOG = LoggerFactory.getLogger(StallDetector.class);

    /** The watched node. */
    interface Leader {
        /**
         * Whether the node leads and is waiting: for its own proposals, or for the entries committed before its term.
         */
        boolean waits();

        /** Returns the numbers that change when the group progresses. */
        List<Long> howFar();

        void proposeEmptyEntry();

        void stepDown();
    }

    private final String self;
    private final Leader leader;
    private final int patience;
    private List<Long> seen = List.of();
    private int stalledChecks;

    /**
     * Creates the detector of one node.
     *
     * @param patience the number of checks without progress after which the term is ended
     */
    StallDetector(String self, Leader leader, int patience) {
        this.self = self;
        this.leader = leader;
        this.patience = patience;
    }

    /** Checks for progress. Call this on one thread only. */
    void look() {
        List<Long> now = leader.waits() ? leader.howFar() : List.of();
        stalledChecks = now.isEmpty() || !now.equals(seen) ? 0 : stalledChecks + 1;
        seen = now;
        if (stalledChecks == patience) {
            LOG.warn("{}: gives up leadership: its group has not moved for {} election timeouts", self, patience);
            stalledChecks = 0;
            leader.stepDown();
        } else if (stalledChecks > 0) {
            leader.proposeEmptyEntry();
        }
    }
}
