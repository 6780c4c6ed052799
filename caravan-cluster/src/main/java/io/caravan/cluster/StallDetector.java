package io.caravan.cluster;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects a leader whose group makes no progress. The leader is checked once per election timeout.
 *
 * <p>If a connection breaks after a follower has fsynced an entry but before the follower has confirmed it, Ratis
 * considers the entry sent. Ratis requests no confirmation until it has a later entry to send. A proposer that waits
 * for each entry before it proposes the next would wait forever, although a majority has the entry. Therefore the
 * leader proposes an empty entry if nothing has changed between two checks. The confirmation of the empty entry covers
 * all earlier entries.
 *
 * <p>If the group still makes no progress for a longer time, the leader ends its term, even if the other nodes respond.
 * The next term uses new connections, or has another leader. The term also ends if the leader cannot apply previously
 * committed entries, for example because its disk is full: such a leader cannot serve requests.
 */
final class StallDetector {
    private static final Logger LOG = LoggerFactory.getLogger(StallDetector.class);

    /** An action that a node must take after a check. */
    enum Action {
        NOTHING,
        PROPOSE_EMPTY_ENTRY,
        STEP_DOWN
    }

    /**
     * The progress of the group as the leader sees it. Contains the indexes of the last entries that it has applied,
     * that its log has, and that each follower has. {@code sent} has the bytes sent for each snapshot.
     *
     * @param waits whether the leader waits for its own proposals, for the entries committed before its term, or for
     *     its store
     */
    record Progress(boolean waits, long applied, long last, List<Long> followers, List<Long> sent) {}

    private final String self;
    private final int maxChecks;
    private List<Long> seen = List.of();
    /** The index of the entry that followers must reach. Later entries, such as empty ones, are no progress. */
    private long target;
    /** The followers that lacked entries at the last check, and the index of each follower's last entry. */
    private Map<Integer, Long> lagging = Map.of();
    /** The value of {@code lagging} for which an empty entry was last proposed. */
    private Map<Integer, Long> nudged = Map.of();

    private int stalledChecks;

    /** Creates a detector that ends the term after this number of checks without progress. */
    StallDetector(String self, int maxChecks) {
        this.self = self;
        this.maxChecks = maxChecks;
    }

    /** Compares the progress with that at the last check. For one thread; null if this node does not lead. */
    Action check(@Nullable Progress progress) {
        List<Long> now = progress == null || !progress.waits() ? List.of() : numbers(progress);
        stalledChecks = now.isEmpty() || !now.equals(seen) ? 0 : stalledChecks + 1;
        seen = now;
        if (stalledChecks == maxChecks) {
            LOG.warn("{}: steps down: its group has made no progress for {} election timeouts", self, maxChecks);
            stalledChecks = 0;
            return Action.STEP_DOWN;
        }
        boolean proposes =
                stalledChecks > 0 || now.isEmpty() && needsEntry(progress == null ? Map.of() : lagging(progress));
        return proposes ? Action.PROPOSE_EMPTY_ENTRY : Action.NOTHING;
    }

    /**
     * Whether a follower still lacks the same entries as at the last check, and no empty entry was proposed for it yet.
     * Raft resends entries that it has sent on a connection that has ended only when another entry follows.
     */
    private boolean needsEntry(Map<Integer, Long> now) {
        boolean needs = !now.isEmpty() && now.equals(lagging) && !now.equals(nudged);
        nudged = needs ? now : nudged;
        lagging = now;
        return needs;
    }

    private static Map<Integer, Long> lagging(Progress progress) {
        Map<Integer, Long> lagging = new HashMap<>();
        for (int i = 0; i < progress.followers().size(); i++) {
            if (progress.followers().get(i) < progress.last()) {
                lagging.put(i, progress.followers().get(i));
            }
        }
        return lagging;
    }

    /** Returns the numbers in which any change counts as progress. The first is the applied index. */
    private List<Long> numbers(Progress now) {
        if (seen.isEmpty() || now.applied() != seen.get(0)) {
            target = now.last();
        }
        return Stream.of(
                        Stream.of(now.applied()),
                        now.followers().stream().map(index -> Math.min(index, target)),
                        now.sent().stream())
                .flatMap(Function.identity())
                .toList();
    }
}
