package io.caravan.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The Raft state of one node, for simulations, as in figure 2 of Ongaro and Ousterhout, "In Search of an Understandable
 * Consensus Algorithm" (USENIX ATC 2014). The log, term, and vote survive restarts and power cuts. The commit index
 * survives neither.
 */
final class RaftModel {
    private static final int MAX_ENTRIES = 4;
    private static final int NO_CALLBACK = -1;

    /** An entry of the Raft log: a frame, or an empty entry that begins the term of a leader. */
    record Entry(long term, byte[] frame) {
        boolean hasFrame() {
            return frame.length > 0;
        }
    }

    /** A network that may delay, duplicate, reorder, or drop messages. */
    interface Network {
        void send(int from, int to, Consumer<RaftModel> message);
    }

    private enum Role {
        FOLLOWER,
        CANDIDATE,
        LEADER
    }

    private final int self;
    private final Network network;
    private final List<Entry> log = new ArrayList<>();
    private long term;
    private int votedFor = NO_CALLBACK;

    private Role role = Role.FOLLOWER;
    private int committed;
    private int votes;
    private final int[] next;
    private final int[] matching;

    RaftModel(int self, int nodes, Network network) {
        this.self = self;
        this.network = network;
        this.next = new int[nodes];
        this.matching = new int[nodes];
    }

    /** Starts a new process with the commit index that its store provides. */
    void restart(int known) {
        role = Role.FOLLOWER;
        committed = known;
    }

    long term() {
        return term;
    }

    boolean leads() {
        return role == Role.LEADER;
    }

    /** Returns the number of committed entries, as far as this node knows. */
    int committed() {
        return committed;
    }

    /** Returns the entry with this number, counted from 1. */
    Entry entry(int index) {
        return log.get(index - 1);
    }

    int lastIndex() {
        return log.size();
    }

    private long termAt(int index) {
        return index == 0 ? 0 : entry(index).term();
    }

    private boolean isMajority(int count) {
        return 2 * count > next.length;
    }

    private void toOthers(Consumer<RaftModel> message) {
        for (int to = 0; to < next.length; to++) {
            if (to != self) {
                network.send(self, to, message);
            }
        }
    }

    /** Starts an election, because the node has received nothing from a leader for too long. */
    void stand() {
        if (leads()) {
            return;
        }
        role = Role.CANDIDATE;
        term++;
        votedFor = self;
        votes = 1 << self;
        long inTerm = term;
        int last = log.size();
        long lastTerm = termAt(last);
        toOthers(node -> node.voteRequested(inTerm, self, last, lastTerm));
    }

    /** Steps down, because the leader has received nothing from a majority for too long. */
    void stop() {
        role = Role.FOLLOWER;
    }

    /** Sends the other nodes their missing entries, or a heartbeat. */
    void replicate() {
        for (int to = 0; leads() && to < next.length; to++) {
            if (to != self) {
                append(to);
            }
        }
    }

    private void append(int to) {
        long inTerm = term;
        int previous = next[to] - 1;
        long previousTerm = termAt(previous);
        List<Entry> entries = List.copyOf(log.subList(previous, Math.min(log.size(), previous + MAX_ENTRIES)));
        int known = committed;
        network.send(self, to, node -> node.appended(inTerm, self, previous, previousTerm, entries, known));
    }

    /** Appends a frame to the leader's log. Returns immediately, before the group has committed the frame. */
    void propose(byte[] frame) {
        log.add(new Entry(term, frame));
        matching[self] = log.size();
        advance();
        replicate();
    }

    private void heardOf(long other) {
        if (other > term) {
            term = other;
            votedFor = NO_CALLBACK;
            role = Role.FOLLOWER;
        }
    }

    private void voteRequested(long inTerm, int candidate, int last, long lastTerm) {
        heardOf(inTerm);
        int ownLast = log.size();
        boolean upToDate = lastTerm > termAt(ownLast) || (lastTerm == termAt(ownLast) && last >= ownLast);
        if (inTerm == term && upToDate && (votedFor == NO_CALLBACK || votedFor == candidate)) {
            votedFor = candidate;
            network.send(self, candidate, node -> node.voted(inTerm, self));
        }
    }

    private void voted(long inTerm, int voter) {
        heardOf(inTerm);
        if (role != Role.CANDIDATE || inTerm != term) {
            return;
        }
        votes |= 1 << voter;
        if (isMajority(Integer.bitCount(votes))) {
            role = Role.LEADER;
            for (int node = 0; node < next.length; node++) {
                next[node] = log.size() + 1;
                matching[node] = 0;
            }
            propose(new byte[0]);
        }
    }

    private void appended(
            long inTerm, int leader, int previous, long previousTerm, List<Entry> entries, int leaderCommitted) {
        heardOf(inTerm);
        long replyTerm = term;
        if (inTerm < term) {
            network.send(self, leader, node -> node.heardOf(replyTerm));
            return;
        }
        role = Role.FOLLOWER;
        if (previous > log.size() || termAt(previous) != previousTerm) {
            int hint = Math.min(previous - 1, log.size());
            network.send(self, leader, node -> node.rejected(replyTerm, self, hint));
            return;
        }
        int index = previous;
        for (Entry entry : entries) {
            index++;
            if (index <= log.size() && termAt(index) != entry.term()) {
                log.subList(index - 1, log.size()).clear();
            }
            if (index > log.size()) {
                log.add(entry);
            }
        }
        int has = index;
        committed = Math.max(committed, Math.min(leaderCommitted, has));
        network.send(self, leader, node -> node.accepted(replyTerm, self, has));
    }

    private void rejected(long inTerm, int follower, int hint) {
        heardOf(inTerm);
        if (leads() && inTerm == term) {
            next[follower] = Math.max(matching[follower] + 1, Math.min(next[follower], hint + 1));
        }
    }

    private void accepted(long inTerm, int follower, int has) {
        heardOf(inTerm);
        if (leads() && inTerm == term) {
            matching[follower] = Math.max(matching[follower], has);
            next[follower] = matching[follower] + 1;
            advance();
        }
    }

    /** Advances the commit index. Counting the nodes that have an entry commits only entries of the current term. */
    private void advance() {
        for (int index = log.size(); index > committed && termAt(index) == term; index--) {
            int have = 0;
            for (int known : matching) {
                have += known >= index ? 1 : 0;
            }
            if (isMajority(have)) {
                committed = index;
                return;
            }
        }
    }
}
