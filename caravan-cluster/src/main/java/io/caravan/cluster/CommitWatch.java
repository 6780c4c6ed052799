package io.caravan.cluster;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that a host which leads comes further, by a look each election timeout.
 *
 * <p>When a connection ends after a follower has forced an entry, and before it has said so, Ratis takes the entry for
 * sent: it asks no more until it has a later one to send. Who waits for that entry, and proposes nothing before it is
 * committed, would wait for ever, though a majority has it. So when nothing has moved between two looks an empty entry is
 * proposed; what is heard of it is true of all before it.
 *
 * <p>If nothing moves for long all the same, though the other hosts may answer, the term is ended: the next one makes the
 * connections anew, or is another host's. So ends a term, too, in which a host cannot apply what was committed before, as
 * its disk is full: it leads, and cannot serve.
 */
final class CommitWatch {
    private static final Logger LOG = LoggerFactory.getLogger(CommitWatch.class);

    /** The host that is watched. */
    interface Leader {
        /** Whether it leads, and waits: for what it has proposed, or for everything that was committed before its term. */
        boolean waits();

        /** Everything that shows that the group moves. */
        List<Long> howFar();

        void proposeEmptyEntry();

        void stepDown();
    }

    private final String self;
    private final Leader leader;
    private final int patience;
    private List<Long> seen = List.of();
    /** How many looks have found the group where it was. */
    private int stood;

    /**
     * For one host.
     *
     * @param patience after so many looks without a move the term is ended
     */
    CommitWatch(String self, Leader leader, int patience) {
        this.self = self;
        this.leader = leader;
        this.patience = patience;
    }

    /** For one thread. */
    void look() {
        List<Long> now = leader.waits() ? leader.howFar() : List.of();
        stood = now.isEmpty() || !now.equals(seen) ? 0 : stood + 1;
        seen = now;
        if (stood == patience) {
            LOG.warn("{}: gives up leadership: its group has not moved for {} election timeouts", self, patience);
            stood = 0;
            leader.stepDown();
        } else if (stood > 0) {
            leader.proposeEmptyEntry();
        }
    }
}
