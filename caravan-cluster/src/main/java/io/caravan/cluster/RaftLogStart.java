package io.caravan.cluster;

import io.caravan.cluster.AppliedMark.Applied;
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
 * What is done to the open segment of the Raft log when a host starts, before Raft reads it.
 *
 * <ul>
 *   <li>If the log ends before what the store's files have, the segment is deleted. Files that were received, and a power
 *       cut before Raft's own force, leave such a log. Raft drops the finished segments of one; it would add what it hears
 *       next to the open one, where it does not fit.
 *   <li>Otherwise it is written anew, and forced. Raft takes what it reads for what is on the disk, and answers for it. But
 *       a process that was killed may have left it in the operating system's memory, and after a force that failed the
 *       system may show what it has given up to write: another force would not notice.
 * </ul>
 */
final class RaftLogStart {
    private static final String ANEW = "anew.tmp";

    private RaftLogStart() {}

    /**
     * Prepares the log.
     *
     * @param segments the folder of the log's segments
     * @param durable up to where the store's files have everything; null when that is nowhere
     */
    static void prepare(Path segments, @Nullable Applied durable) throws IOException {
        Files.deleteIfExists(segments.resolve(ANEW));
        for (Segment segment : RaftSegments.of(segments)) {
            if (!segment.open()) {
                continue;
            }
            if (durable != null && segment.first() <= durable.getIndex() && lastEntry(segment) < durable.getIndex()) {
                Files.delete(segment.file());
            } else {
                writeAnew(segment.file());
            }
        }
        Folders.force(segments);
    }

    private static void writeAnew(Path file) throws IOException {
        Path anew = file.resolveSibling(ANEW);
        Files.copy(file, anew);
        try (FileChannel channel = FileChannel.open(anew, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        Files.move(anew, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** The last entry that is whole; the one before the segment's first when there is none. */
    private static long lastEntry(Segment segment) throws IOException {
        AtomicLong last = new AtomicLong(segment.first() - 1);
        RaftSegments.read(segment, entry -> last.set(entry.getIndex()));
        return last.get();
    }
}
