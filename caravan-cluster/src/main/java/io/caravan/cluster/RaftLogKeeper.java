package io.caravan.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;

/**
 * Drops what is needed of the Raft log no more: entries that this host's files have and all others have heard of, and
 * those beyond the {@link RaftLogBound}, whoever lacks them. For one thread, but for {@link #due}.
 */
final class RaftLogKeeper {
    private static final int ENTRIES = 1_000;
    private static final int PARTS_OF_BOUND = 16;

    private final RaftLogBound bound;
    private final long bytesBetween;
    private int entries;
    private long lastLsn;

    /**
     * A keeper.
     *
     * @param segments the folder of the log's segments
     */
    RaftLogKeeper(Path segments, long keptBytes) {
        this.bound = new RaftLogBound(segments, keptBytes);
        this.bytesBetween = keptBytes / PARTS_OF_BOUND;
    }

    /** Whether it is time to look again, now that a frame has been applied; by the thread that applies them. */
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
     * Drops what can be dropped.
     *
     * @param durable the entry up to which this host's files have everything
     * @param held from this entry on the log is needed for a host that is sent files
     */
    void drop(RaftServer.Division division, long durable, OptionalLong held) throws IOException {
        long last = Math.max(leastCommitted(division), bound.lastBeyond());
        long needed = Math.min(durable, held.orElse(Long.MAX_VALUE));
        // Raft compares an entry with the one before it: so that one stays, too.
        division.getRaftLog().purge(Math.min(last, needed - 1));
    }

    /** What every host has; a host that nobody has heard of has nothing. */
    private static long leastCommitted(RaftServer.Division division) {
        Map<RaftPeerId, Long> known = RaftView.committed(division);
        return division.getRaftConf().getAllPeers().stream()
                .map(RaftPeer::getId)
                .mapToLong(host -> known.getOrDefault(host, -1L))
                .min()
                .orElse(-1);
    }
}
