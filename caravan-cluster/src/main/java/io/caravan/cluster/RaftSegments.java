package io.caravan.cluster;

import io.caravan.cluster.AppliedIndex.Applied;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;
import org.jspecify.annotations.Nullable;

/** Lists the segment files of a Raft log. While the log is not open, also reads and repairs them. */
final class RaftSegments {
    private static final String REWRITTEN = "anew.tmp";
    private static final Pattern FILE = Pattern.compile("log_(inprogress_)?(\\d+)(?:-(\\d+))?");
    private static final int HEADER_BYTES = 8;
    private static final int CHECKSUM_BYTES = 4;

    private RaftSegments() {}

    /**
     * A segment file of a Raft log.
     *
     * @param first the index of the segment's first entry
     * @param last the index of the segment's last entry; -1 if entries may still be added
     */
    record Segment(Path file, long first, long last) {
        /** Whether Raft may still add entries to this segment. */
        boolean open() {
            return last < 0;
        }
    }

    /** Returns the segments of a log, oldest first. */
    static List<Segment> of(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.flatMap(RaftSegments::segment)
                    .sorted(Comparator.comparing(Segment::first))
                    .toList();
        }
    }

    private static Stream<Segment> segment(Path file) {
        Matcher name = FILE.matcher(file.getFileName().toString());
        return name.matches()
                ? Stream.of(new Segment(
                        file,
                        Long.parseLong(name.group(2)),
                        name.group(3) == null ? -1 : Long.parseLong(name.group(3))))
                : Stream.empty();
    }

    /**
     * Repairs the open segment when a node starts, before Raft reads it.
     *
     * <ul>
     *   <li>If the log ends before the store's files do, the segment is deleted. Such a log remains if the power fails
     *       after a snapshot is received but before Raft fsyncs its log. Raft drops the finished segments, but would
     *       append new entries to the open segment, which they do not continue.
     *   <li>Otherwise the segment is rewritten and fsynced. Raft acknowledges everything that it reads. But a killed
     *       process may have left entries only in the page cache, and after a failed fsync, the system may even return
     *       bytes that it no longer tries to write. Another fsync would not detect this.
     * </ul>
     *
     * @param durable the entry up to which the store's files are complete; null if there is none
     */
    static void repair(Path directory, @Nullable Applied durable) throws IOException {
        Files.deleteIfExists(directory.resolve(REWRITTEN));
        for (Segment segment : of(directory)) {
            if (!segment.open()) {
                continue;
            }
            // The index before the first entry, if no entry is intact.
            AtomicLong last = new AtomicLong(segment.first() - 1);
            read(segment, entry -> last.set(entry.getIndex()));
            if (durable != null && segment.first() <= durable.getIndex() && last.get() < durable.getIndex()) {
                Files.delete(segment.file());
            } else {
                rewrite(segment.file());
            }
        }
        StoreDirectories.force(directory);
    }

    private static void rewrite(Path file) throws IOException {
        Path rewritten = file.resolveSibling(REWRITTEN);
        Files.copy(file, rewritten);
        try (FileChannel channel = FileChannel.open(rewritten, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        Files.move(rewritten, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Reads all entries of a log, in order. */
    static void readAll(Path directory, Consumer<LogEntryProto> reader) throws IOException {
        for (Segment segment : of(directory)) {
            read(segment, reader);
        }
    }

    /** Reads the entries of a segment up to its end or to the first torn entry. */
    static void read(Segment segment, Consumer<LogEntryProto> reader) throws IOException {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(segment.file()))) {
            in.skipNBytes(HEADER_BYTES);
            for (LogEntryProto entry = next(in); entry != null; entry = next(in)) {
                reader.accept(entry);
                in.skipNBytes(CHECKSUM_BYTES);
            }
        } catch (EOFException | InvalidProtocolBufferException torn) {
            // The end of the intact entries.
        }
    }

    /** Returns the next entry; null at the start of the preallocated zeros, and at the end of the file. */
    private static @Nullable LogEntryProto next(InputStream in) throws IOException {
        LogEntryProto entry = LogEntryProto.parseDelimitedFrom(in);
        return entry == null || entry.getSerializedSize() == 0 ? null : entry;
    }
}
