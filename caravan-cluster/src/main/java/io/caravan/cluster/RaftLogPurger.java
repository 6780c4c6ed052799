package io.caravan.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;

/**
 * Purges the Raft log: removes entries that are durable in the store's files, if all other nodes have received the
 * entries, or if the log exceeds the {@link RaftLogRetention}. Not thread-safe, but {@link #due} may be called on a
 * second thread.
 */
final class RaftLogPurger {
    private static final int ENTRIES = 1_000;
    private static final int PARTS_OF_BOUND = 16;

    private final RaftLogRetention bound;
    private final long bytesBetween;
    private int entries;
    private long lastLsn;

    /**
     * Creates the purger of a node's Raft log.
     *
     * @param segments the directory of the log's segments
     */
    RaftLogPurger(Path segments, long keptBytes) {
        this.bound = new RaftLogRetention(segments, keptBytes);
        this.bytesBetween = keptBytes / PARTS_OF_BOUND;
    }

    /** Whether a purge is due after a frame has been applied. Called by the thread that applies frames. */
    boolean due(long endLsn) {
        entries++;
        if (entries < ENTRIES && endLsn - lastLsn < bytesBetween) {
            return false;
        }
        entries = 0;
        lastLsn = endLsn;
        return true;
    }

    /**
     * Purges the entries that are no longer needed or exceed the limit.
     *
     * @param durable the entry up to which this node's files are complete
     * @param firstNeeded the first entry needed by a node that is receiving a snapshot
     */
    void drop(RaftServer.Division division, long durable, OptionalLong firstNeeded) throws IOException {
        long last = Math.max(leastCommitted(division), bound.lastBeyond());
        long needed = Math.min(durable, firstNeeded.orElse(Long.MAX_VALUE));
        // Raft compares an entry with its predecessor, so the predecessor is also kept.
        division.getRaftLog().purge(Math.min(last, needed - 1));
    }

    /** Returns the index of the last entry that all nodes are known to have; -1 if the state of any node is unknown. */
    private static long leastCommitted(RaftServer.Division division) {
        Map<RaftPeerId, Long> known = RaftView.committed(division);
        return division.getRaftConf().getAllPeers().stream()
                .map(RaftPeer::getId)
                .mapToLong(node -> known.getOrDefault(node, -1L))
                .min()
                .orElse(-1);
    }
}
