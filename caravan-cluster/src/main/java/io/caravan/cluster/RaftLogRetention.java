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

/** The retention limit of the Raft log for nodes that lag: its newest finished segments, up to a number of bytes. */
final class RaftLogRetention {
    private static final Pattern FINISHED = Pattern.compile("log_(\\d+)-(\\d+)");
    /** The approximate number of segments within the limit. */
    private static final int SEGMENTS = 8;

    private static final long MOST_SEGMENT_BYTES = 128L << 20;

    private final Path segments;
    private final long keptBytes;

    /**
     * Creates a limit.
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

    private record Segment(long lastEntry, long bytes) {}

    /** Returns the last entry of the segments that exceed the limit; -1 if none does. */
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
                    // The size is 0 if the segment has just been purged.
                    found.add(new Segment(
                            Long.parseLong(name.group(2)), file.toFile().length()));
                }
            }
        }
        found.sort(Comparator.comparingLong(Segment::lastEntry).reversed());
        return found;
    }
}
