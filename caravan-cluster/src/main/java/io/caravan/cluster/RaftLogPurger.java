package io.caravan.cluster;

import io.caravan.cluster.RaftSegments.Segment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;

/**
 * Purges the Raft log: removes entries that are durable in the store's files, if all other nodes have received the
 * entries, or if the log exceeds its limit. The limit is the total size of the finished segments that are kept for nodes
 * that lag behind. Not thread-safe, but {@link #due} may be called on a second thread.
 */
final class RaftLogPurger {
    private static final int ENTRIES = 1_000;
    private static final int PARTS_OF_BOUND = 16;
    /** The approximate number of segments into which the limit is divided. */
    private static final int SEGMENTS = 8;

    private static final long MOST_SEGMENT_BYTES = 128L << 20;

    private final Path segments;
    private final long keptBytes;
    private int entries;
    private long lastLsn;

    /** Creates the purger of the log whose segments are in this directory. */
    RaftLogPurger(Path segments, long keptBytes) {
        this.segments = segments;
        this.keptBytes = keptBytes;
    }

    /** Returns the segment size of a log with this limit. The log is purged in complete segments. */
    static long segmentBytes(long keptBytes) {
        return Math.min(MOST_SEGMENT_BYTES, keptBytes / SEGMENTS);
    }

    /** Whether a purge is due after a frame has been applied. Called by the thread that applies frames. */
    boolean due(long endLsn) {
        entries++;
        if (entries < ENTRIES && endLsn - lastLsn < keptBytes / PARTS_OF_BOUND) {
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
        long unneeded = Math.max(leastCommitted(division), lastBeyondLimit());
        division.getRaftLog().purge(lastToPurge(unneeded, durable, firstNeeded));
    }

    static long lastToPurge(long unneeded, long durable, OptionalLong firstNeeded) {
        long needed = Math.min(durable, firstNeeded.orElse(Long.MAX_VALUE));
        // Raft compares an entry with its predecessor, so the predecessor is also kept.
        return Math.min(unneeded, needed - 1);
    }

    /** Returns the index of the last entry in the segments beyond the limit; -1 if there are none. */
    long lastBeyondLimit() throws IOException {
        List<Segment> oldestFirst = RaftSegments.of(segments);
        long bytes = 0;
        for (int i = oldestFirst.size() - 1; i >= 0; i--) {
            Segment segment = oldestFirst.get(i);
            // The size is 0 if the segment has just been purged.
            bytes += segment.open() ? 0 : segment.file().toFile().length();
            if (bytes > keptBytes) {
                return segment.last();
            }
        }
        return -1;
    }

    /** Returns the index of the last entry that all nodes are known to have; -1 if the state of any node is unknown. */
    private static long leastCommitted(RaftServer.Division division) {
        Map<RaftPeerId, Long> known = LocalRaft.committed(division);
        return division.getRaftConf().getAllPeers().stream()
                .map(RaftPeer::getId)
                .mapToLong(node -> known.getOrDefault(node, -1L))
                .min()
                .orElse(-1);
    }
}
