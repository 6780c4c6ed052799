package io.caravan.cluster;

import io.caravan.cluster.AppliedMark.Applied;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;
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
    private static final Pattern OPEN = Pattern.compile("log_inprogress_(\\d+)");
    private static final String ANEW = "anew.tmp";
    private static final int HEADER_BYTES = 8;
    private static final int CHECKSUM_BYTES = 4;

    private RaftLogStart() {}

    /**
     * Prepares the log.
     *
     * @param segments the folder of the log's segments
     * @param durable up to where the store's files have everything; null when that is nowhere
     */
    static void prepare(Path segments, @Nullable Applied durable) throws IOException {
        Files.deleteIfExists(segments.resolve(ANEW));
        for (Path file : list(segments)) {
            Matcher open = OPEN.matcher(file.getFileName().toString());
            if (!open.matches()) {
                continue;
            }
            long first = Long.parseLong(open.group(1));
            if (durable != null && first <= durable.getIndex() && lastEntry(file, first) < durable.getIndex()) {
                Files.delete(file);
            } else {
                writeAnew(file);
            }
        }
        Folders.force(segments);
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
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
    private static long lastEntry(Path file, long first) throws IOException {
        long last = first - 1;
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
            in.skipNBytes(HEADER_BYTES);
            for (LogEntryProto entry = next(in); entry != null; entry = next(in)) {
                last = entry.getIndex();
                in.skipNBytes(CHECKSUM_BYTES);
            }
        } catch (EOFException | InvalidProtocolBufferException torn) {
            return last;
        }
        return last;
    }

    /** Null where the zeros begin, and at the end. */
    private static @Nullable LogEntryProto next(InputStream in) throws IOException {
        LogEntryProto entry = LogEntryProto.parseDelimitedFrom(in);
        return entry == null || entry.getSerializedSize() == 0 ? null : entry;
    }
}
