package io.caravan.inspect;

import io.caravan.SalvageReport.Loss;
import io.caravan.format.Blocks;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout.Link;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogFrames;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Reads all valid frames of a log that may be damaged, in order. It skips other bytes block by block. It takes a
 * segment's number from the segment's header or, if the header is damaged, from the file name.
 */
final class DamagedLog {
    /** The number of matching header fields, out of four, that identify a damaged frame of this log. */
    private static final int FIELDS_OF_OURS = 3;

    private static final long UNKNOWN = -1;

    private final Storage storage;
    private final SalvageIdentity identity;
    private final Consumer<Loss> losses;
    private final List<Segment> segments = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private Link last = Link.NONE;
    private long end;

    /** A segment's file name, and the segment's actual number. */
    record Segment(String name, long number) {}

    interface FrameVisitor {
        /**
         * Visits a valid frame at this index of the bytes. The LSNs of the frames rise; {@code previousFound} is the
         * LSN of the frame visited before.
         */
        void frame(ByteBuffer bytes, int at, long lsn, long previousFound);

        /**
         * Reports a damaged frame: its header belongs to this log, but its checksum is wrong.
         *
         * @param end the end of the frame, if its header is correct
         */
        void damaged(Segment segment, int at, long lsn, long end);
    }

    DamagedLog(Storage storage, SalvageIdentity identity, Consumer<Loss> losses) throws IOException {
        this.storage = storage;
        this.identity = identity;
        this.losses = losses;
        TreeSet<Long> numbers = FileNames.LOG.numbers(storage.list());
        if (numbers.isEmpty()) {
            problems.add(storage.describe("") + " has no segment of the log");
        }
        for (long number : numbers) {
            add(FileNames.LOG.of(number), number, number == numbers.last());
            Long before = numbers.lower(number);
            if (before != null && before != number - 1) {
                problems.add(storage.describe(FileNames.LOG.of(before + 1)) + " is missing, or more");
            }
        }
        segments.sort(Comparator.comparingLong(Segment::number));
    }

    private void add(String name, long named, boolean last) throws IOException {
        FileHeader.Fields fields = SalvageIdentity.fields(storage, name, FileHeader.Kind.LOG_SEGMENT);
        long number = fields != null && fields.storeId() == identity.storeId() ? fields.number() : UNKNOWN;
        segments.add(new Segment(name, number == UNKNOWN ? named : number));
        // The last segment may just have been recycled, and may not have its new header yet.
        if (number == UNKNOWN || number > named || number < named && !last) {
            problems.add(storage.describe(name) + ": its header is damaged, or that of another file");
        }
        try (StoreFile file = storage.open(name)) {
            if (file.size() != identity.logSegmentBytes()) {
                problems.add(
                        file.path() + " is " + file.size() + " bytes long, should be " + identity.logSegmentBytes());
            }
        }
    }

    /** Returns the problems that affect entire files, whose frames may therefore be missing. */
    List<String> problems() {
        return problems;
    }

    /** Returns the name of the file that contains or contained a segment. */
    String fileOf(long segment) {
        for (Segment one : segments) {
            if (one.number() == segment) {
                return one.name();
            }
        }
        return FileNames.LOG.of(segment);
    }

    List<Segment> segments() {
        return segments;
    }

    /** Returns the LSN of the last frame that was visited. */
    long lastFound() {
        return last.lsn();
    }

    /** Returns the position after the last frame that was visited, or 0. */
    long end() {
        return end;
    }

    /** Visits those frames of a segment that lie after the last visited frame. */
    void visit(Segment segment, FrameVisitor visitor) throws IOException {
        LogGeometry geometry = new LogGeometry(identity.logSegmentBytes());
        try (StoreFile file = new SalvageFile(storage.open(segment.name()), losses)) {
            LogFrames frames = new LogFrames(geometry, identity.storeId(), any -> file, LogFrames.READ_AHEAD_BYTES);
            LogFrames.PassedBlocks blocks = lsn -> {
                if (frames.fieldsRight(lsn, last.lsn()) >= FIELDS_OF_OURS) {
                    visitor.damaged(segment, geometry.offsetOf(lsn), lsn, frames.positionBehind(lsn));
                }
            };
            long lsn = frames.firstValid(segment.number(), Blocks.roundUp(last.lsn() + 1), last.term(), blocks);
            while (lsn != LogFrames.NOWHERE) {
                visitor.frame(frames.window(), frames.at(lsn), lsn, last.lsn());
                last = frames.linkOf(lsn);
                end = frames.positionBehind(lsn);
                lsn = frames.firstValid(segment.number(), end, last.term(), blocks);
            }
        }
    }
}
