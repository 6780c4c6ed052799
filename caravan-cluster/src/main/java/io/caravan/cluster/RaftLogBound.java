package io.caravan.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** How much of the Raft log is kept for hosts that are behind: the newest of its finished segments, up to so many bytes. */
final class RaftLogBound {
    private static final Pattern FINISHED = Pattern.compile("log_(\\d+)-(\\d+)");
    /** So many segments fill the bound, about. */
    private static final int SEGMENTS = 8;

    private static final long MOST_SEGMENT_BYTES = 128L << 20;

    private final Path segments;
    private final long keptBytes;

    /**
     * A bound.
     *
     * @param segments the folder of the log's segments
     */
    RaftLogBound(Path segments, long keptBytes) {
        this.segments = segments;
        this.keptBytes = keptBytes;
    }

    /** How large the segments of a log with this bound are: it is dropped by whole ones. */
    static long segmentBytes(long keptBytes) {
        return Math.min(MOST_SEGMENT_BYTES, keptBytes / SEGMENTS);
    }

    /** A finished segment. */
    private record Segment(long lastEntry, long bytes) {}

    /** The last entry of those segments that are beyond the bound; -1 when there are none. */
    long lastBeyond() throws IOException {
        long bytes = 0;
        for (Segment segment : newestFirst()) {
            bytes += segment.bytes();
            if (bytes > keptBytes) {
                return segment.lastEntry();
            }
        }
        return -1;
    }

    private List<Segment> newestFirst() throws IOException {
        List<Segment> found = new ArrayList<>();
        try (Stream<Path> files = Files.list(segments)) {
            for (Path file : files.toList()) {
                Matcher name = FINISHED.matcher(file.getFileName().toString());
                if (name.matches()) {
                    // 0 bytes when it was dropped just now.
                    found.add(new Segment(
                            Long.parseLong(name.group(2)), file.toFile().length()));
                }
            }
        }
        found.sort(Comparator.comparingLong(Segment::lastEntry).reversed());
        return found;
    }
}
