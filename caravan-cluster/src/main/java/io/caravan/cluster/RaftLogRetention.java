package io.caravan.cluster;

import io.caravan.cluster.RaftSegments.Segment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The limit on the Raft log kept for nodes that lag behind: the newest finished segments, up to a given total size. */
final class RaftLogRetention {
    /** The approximate number of segments into which the limit is divided. */
    private static final int SEGMENTS = 8;

    private static final long MOST_SEGMENT_BYTES = 128L << 20;

    private final Path segments;
    private final long keptBytes;

    /**
     * Creates the limit of one Raft log.
     *
     * @param segments the directory of the log's segments
     */
    RaftLogRetention(Path segments, long keptBytes) {
        this.segments = segments;
        this.keptBytes = keptBytes;
    }

    /** Returns the segment size of a log with this limit. The log is purged in complete segments. */
    static long segmentBytes(long keptBytes) {
        return Math.min(MOST_SEGMENT_BYTES, keptBytes / SEGMENTS);
    }

    /** Returns the index of the last entry in the segments beyond the limit; -1 if there are none. */
    long lastBeyond() throws IOException {
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
}
