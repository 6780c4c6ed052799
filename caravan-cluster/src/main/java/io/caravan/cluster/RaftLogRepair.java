package io.caravan.cluster;

import io.caravan.cluster.AppliedIndex.Applied;
import io.caravan.cluster.RaftSegments.Segment;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Repairs the open segment of the Raft log when a node starts, before Raft reads it.
 *
 * <ul>
 *   <li>If the log ends before the store's files do, the segment is deleted. Such a log remains if the power fails
 *       after a snapshot is received but before Raft fsyncs its log. Raft drops the finished segments, but would append
 *       new entries to the open segment, which they do not continue.
 *   <li>Otherwise the segment is rewritten and fsynced. Raft assumes that everything it reads is durable, and
 *       acknowledges it. But a killed process may have left entries only in the page cache. After a failed fsync, the
 *       system may even return bytes that it no longer tries to write: another fsync would not detect this.
 * </ul>
 */
final class RaftLogRepair {
    private static final String REWRITTEN = "anew.tmp";

    private RaftLogRepair() {}

    /**
     * Repairs the open segment of a log.
     *
     * @param segments the directory of the log's segments
     * @param durable the entry up to which the store's files are complete; null if there is none
     */
    static void prepare(Path segments, @Nullable Applied durable) throws IOException {
        Files.deleteIfExists(segments.resolve(REWRITTEN));
        for (Segment segment : RaftSegments.of(segments)) {
            if (!segment.open()) {
                continue;
            }
            if (durable != null && segment.first() <= durable.getIndex() && lastEntry(segment) < durable.getIndex()) {
                Files.delete(segment.file());
            } else {
                rewrite(segment.file());
            }
        }
        StoreDirectories.force(segments);
    }

    private static void rewrite(Path file) throws IOException {
        Path rewritten = file.resolveSibling(REWRITTEN);
        Files.copy(file, rewritten);
        try (FileChannel channel = FileChannel.open(rewritten, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        Files.move(rewritten, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /**
     * Returns the index of the last intact entry, or the index before the segment's first entry if no entry is intact.
     */
    private static long lastEntry(Segment segment) throws IOException {
        AtomicLong last = new AtomicLong(segment.first() - 1);
        RaftSegments.read(segment, entry -> last.set(entry.getIndex()));
        return last.get();
    }
}
