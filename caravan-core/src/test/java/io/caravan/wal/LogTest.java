package io.caravan.wal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.format.RecordLayout;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.MemoryStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests log segments, the frames written to them, and the scanner that reads frames and finds the end of the log. */
class LogTest {
    private static final LogGeometry GEOMETRY = new LogGeometry(4 * Blocks.BLOCK_BYTES);
    private static final long STORE = 77;
    private static final long START = GEOMETRY.firstFrame(0);

    private MemoryStorage storage = new MemoryStorage();
    private LogSegments segments = new LogSegments(storage, GEOMETRY, STORE);
    private final LogBuffer buffer = new LogBuffer(3 * Blocks.BLOCK_BYTES);
    private final List<Long> written = new ArrayList<>();
    private final List<Link> links = new ArrayList<>();
    private LogWriter writer = new LogWriter(segments, STORE, new LogScanner.End(START, Link.NONE, 0, false));
    private long tail = START;

    @BeforeEach
    void makeTwoSegments() throws IOException {
        segments.prepareNext();
        segments.prepareNext();
    }

    /** Writes a frame with {@code deletions} deletions at the position where the engine would write it. */
    private long write(int deletions) throws IOException {
        int bytes = deletions * RecordLayout.DELETE_BYTES;
        if (bytes + FrameLayout.HEADER_BYTES > GEOMETRY.remaining(tail)) {
            tail = GEOMETRY.firstFrame(GEOMETRY.segmentOf(tail) + 1);
        }
        long lsn = tail;
        buffer.clear();
        buffer.place(lsn, GEOMETRY);
        for (int i = 0; i < deletions; i++) {
            RecordLayout.putDelete(buffer.memory(), buffer.add(RecordLayout.DELETE_BYTES), i);
        }
        writer.write(buffer, writer.seal(buffer, true));
        writer.force();
        written.add(lsn);
        links.add(segments.link(lsn));
        tail = GEOMETRY.positionAfter(buffer.endLsn());
        return lsn;
    }

    /** Returns the link from the next frame to this frame. */
    private Link link(int frame) {
        return links.get(frame);
    }

    private record Scan(List<Long> frames, LogScanner.End end) {}

    private static Scan scan(DirectoryImage image, long start, Link previous, long needed) throws IOException {
        List<Long> frames = new ArrayList<>();
        try (LogSegments opened = new LogSegments(new MemoryStorage(image), GEOMETRY, STORE)) {
            for (String name : image.names("log-")) {
                opened.open(FileNames.LOG.number(name).getAsLong());
            }
            var end = new LogScanner(opened)
                    .scan(
                            start,
                            previous,
                            proven(needed),
                            OptionalLong.empty(),
                            false,
                            (segment, at, lsn) -> frames.add(lsn));
            return new Scan(frames, end);
        }
    }

    private static LogScanner.ProvenEnd proven(long lsn) {
        return new LogScanner.ProvenEnd(lsn, "a checkpoint");
    }

    private Scan scan() throws IOException {
        return scan(storage.image(), START, Link.NONE, START);
    }

    @Test
    void emptyLogEndsAtStart() throws IOException {
        assertThat(scan().end()).isEqualTo(new LogScanner.End(START, Link.NONE, 0, false));
    }

    @Test
    void scansFramesAcrossSegments() throws IOException {
        for (int i = 0; i < 5; i++) {
            write(i % 3 + 1);
        }
        assertThat(scan().frames()).isEqualTo(written);
        assertThat(scan().end()).isEqualTo(new LogScanner.End(tail, link(4), 5, false));
        assertThat(GEOMETRY.segmentOf(written.get(3))).isEqualTo(1);
    }

    @Test
    void scansFrameSkippedToNextSegment() throws IOException {
        write(1);
        long skipped = write(600);
        assertThat(skipped).isEqualTo(GEOMETRY.firstFrame(1));
        assertThat(scan().frames()).isEqualTo(written);
        assertThat(GEOMETRY.remaining(written.get(0) + Blocks.BLOCK_BYTES)).isPositive();
    }

    @Test
    void scanStartsAtAnyFrameOrEnd() throws IOException {
        for (int i = 0; i < 5; i++) {
            write(1);
        }
        for (int i = 1; i < 5; i++) {
            Scan scan = scan(storage.image(), written.get(i), link(i - 1), START);
            assertThat(scan.frames()).isEqualTo(written.subList(i, 5));
        }
        assertThat(scan(storage.image(), tail, link(4), tail).end())
                .isEqualTo(new LogScanner.End(tail, link(4), 0, false));
    }

    /**
     * Tests a torn last frame, both in the same segment as the frame before it and in the next segment. Any part of the
     * torn frame may have been written.
     */
    @Test
    void tornLastFrameEndsLog() throws IOException {
        write(2);
        assertTornAnywhere(write(20));
        write(2);
        assertTornAnywhere(write(400));
    }

    private void assertTornAnywhere(long last) throws IOException {
        DirectoryImage intact = storage.image();
        long end = scan().frames().size() == 1 ? START : written.get(written.size() - 2) + Blocks.BLOCK_BYTES;
        String file = FileNames.LOG.of(GEOMETRY.segmentOf(last));
        int at = GEOMETRY.offsetOf(last);
        int bytes = FrameLayout.HEADER_BYTES + intact.buffer(file).getInt(at + FrameLayout.PAYLOAD_BYTES);
        // The id of the last record ends in zeros, so a frame without those bytes is intact.
        for (int kept = 0; kept < bytes - Long.BYTES; kept++) {
            int length = bytes - kept;
            DirectoryImage torn = intact.edited(file, segment -> segment.put(at + bytes - length, new byte[length]));
            Scan scan = scan(torn, START, Link.NONE, START);
            assertThat(scan.frames()).as("torn after " + kept).isEqualTo(written.subList(0, written.size() - 1));
            assertThat(scan.end().position()).isEqualTo(GEOMETRY.positionAfter(end));
        }
    }

    private static void assertDamaged(DirectoryImage image, long needed, String file, int offset) {
        assertThatThrownBy(() -> scan(image, START, Link.NONE, needed))
                .isInstanceOfSatisfying(CorruptStoreException.class, problem -> {
                    assertThat(problem.file()).endsWith(file);
                    assertThat(problem.offset()).isEqualTo(offset);
                });
    }

    @Test
    void rejectsDamagedFrameBeforeLast() throws IOException {
        for (int i = 0; i < 6; i++) {
            write(2);
        }
        for (long lsn : written.subList(0, 5)) {
            String file = FileNames.LOG.of(GEOMETRY.segmentOf(lsn));
            int at = GEOMETRY.offsetOf(lsn);
            for (int offset = at; offset < at + FrameLayout.HEADER_BYTES + 2 * RecordLayout.DELETE_BYTES; offset++) {
                DirectoryImage damaged = storage.image().withFlip(file, offset);
                assertDamaged(damaged, START, file, at);
            }
        }
    }

    @Test
    void reportsPositionOfDamagedFrameInNextSegment() throws IOException {
        segments.prepareNext();
        write(2);
        long skipped = write(600);
        write(2);
        int at = GEOMETRY.offsetOf(skipped);
        for (int offset = at; offset < at + FrameLayout.HEADER_BYTES + 99; offset++) {
            DirectoryImage damaged = storage.image().withFlip(FileNames.LOG.of(1), offset);
            assertDamaged(damaged, START, FileNames.LOG.of(1), at);
        }
    }

    @Test
    void reportsPositionOfDamagedLastFrameNeededByCheckpoint() throws IOException {
        write(2);
        int at = GEOMETRY.offsetOf(write(600));
        DirectoryImage damaged = storage.image().withFlip(FileNames.LOG.of(1), at + 30);
        assertDamaged(damaged, tail, FileNames.LOG.of(1), at);
    }

    @Test
    void reportsBothSegmentsIfFrameHeaderIsLost() throws IOException {
        segments.prepareNext();
        write(2);
        long skipped = write(600);
        write(2);
        DirectoryImage damaged = storage.image()
                .edited(
                        FileNames.LOG.of(1),
                        file -> file.put(GEOMETRY.offsetOf(skipped), new byte[FrameLayout.HEADER_BYTES]));
        assertThatThrownBy(() -> scan(damaged, START, Link.NONE, START))
                .isInstanceOf(CorruptStoreException.class)
                .hasMessageContainingAll(FileNames.LOG.of(0), "nor first in", FileNames.LOG.of(1));
    }

    /**
     * Checks that overlapping frames are rejected early, because each block could claim to be a frame that covers all
     * later blocks. Computing the checksums of all these frames would take hours in a large segment.
     */
    @Test
    void rejectsOverlappingFramesAfterEnd() throws IOException {
        LogGeometry wide = new LogGeometry(64 * Blocks.BLOCK_BYTES);
        try (LogSegments made = new LogSegments(storage = new MemoryStorage(), wide, STORE)) {
            made.prepareNext();
            DirectoryImage lie = storage.image().edited(FileNames.LOG.of(0), file -> claimEverything(file, wide));
            try (LogSegments opened = new LogSegments(new MemoryStorage(lie), wide, STORE)) {
                opened.open(0);
                LogScanner scanner = new LogScanner(opened);
                assertThatThrownBy(() -> scanner.scan(
                                START, Link.NONE, proven(START), OptionalLong.empty(), false, (segment, at, lsn) -> {}))
                        .isInstanceOf(CorruptStoreException.class)
                        .hasMessageContainingAll(FileNames.LOG.of(0), "overlap here");
            }
        }
    }

    private static void claimEverything(ByteBuffer file, LogGeometry geometry) {
        for (int at = Blocks.BLOCK_BYTES; at < file.limit(); at += Blocks.BLOCK_BYTES) {
            ByteBuffer frame = file.slice(at, file.limit() - at).order(ByteOrder.LITTLE_ENDIAN);
            int payload = geometry.remaining(at) - FrameLayout.HEADER_BYTES;
            FrameLayout.seal(frame, FrameLayout.MAGIC_VALUE, STORE, at, 1, Link.NONE, payload, 0);
            frame.putInt(FrameLayout.CRC, ~frame.getInt(FrameLayout.CRC));
        }
    }

    /** Checks that a truncated segment is rejected before memory is allocated for a possibly wrong segment size. */
    @Test
    void rejectsTruncatedSegment() throws IOException {
        write(2);
        DirectoryImage cut = storage.image().truncated(FileNames.LOG.of(0), 9000);
        assertDamaged(cut, START, FileNames.LOG.of(0), 9000);
    }

    @Test
    void rejectsLogThatEndsBeforeCheckpointPosition() throws IOException {
        write(2);
        assertThat(scan(storage.image(), START, Link.NONE, tail).frames()).isEqualTo(written);
        assertThatThrownBy(() -> scan(storage.image(), START, Link.NONE, tail + 1))
                .isInstanceOf(CorruptStoreException.class)
                .hasMessageContainingAll("the log ends here", FileNames.LOG.of(0));
    }

    /** Checks that a valid frame of another log history is rejected because it does not refer to the previous frame. */
    @Test
    void rejectsValidFrameWithWrongLink() throws IOException {
        write(1);
        writer = new LogWriter(segments, STORE, new LogScanner.End(START, new Link(12_345, 0, 0), 0, false));
        write(1);
        assertThatThrownBy(this::scan)
                .isInstanceOf(CorruptStoreException.class)
                .hasMessageContaining("the log continues with a frame at LSN " + written.get(1));
        assertThatThrownBy(() -> scan(storage.image(), START, new Link(99, 0, 0), START))
                .isInstanceOf(CorruptStoreException.class);
    }

    @Test
    void ignoresFramesOfOtherStore() throws IOException {
        writer = new LogWriter(segments, STORE + 1, new LogScanner.End(START, Link.NONE, 0, false));
        write(1);
        assertThat(scan().frames()).isEmpty();
    }

    @Test
    void recyclesAndDeletesFirstSegments() throws IOException {
        for (int i = 0; i < 3; i++) {
            write(2);
        }
        segments.prepareNext();
        assertThat(storage.list()).containsExactlyInAnyOrder(name(0), name(1), name(2));
        byte[] old = storage.image().bytes(name(0));
        segments.recycleFirst();
        assertThat(storage.list()).containsExactlyInAnyOrder(name(1), name(2), name(3));
        byte[] recycled = storage.image().bytes(name(3));
        assertThat(recycled).hasSameSizeAs(old);
        assertThat(java.util.Arrays.equals(recycled, 4096, 8192, old, 4096, 8192))
                .as("keeps its old frames")
                .isTrue();
        for (long segment = 1; segment <= 3; segment++) {
            segments.checkSize(segment);
            segments.checkHeader(segment);
        }
        assertThat(scan(storage.image(), GEOMETRY.firstFrame(3), link(2), START).frames())
                .isEmpty();
        segments.deleteFirst();
        segments.deleteFirst();
        assertThat(storage.list()).containsExactly(name(3));
        assertThat(segments.first()).isEqualTo(3);
    }

    @Test
    void newSegmentIsFullyAllocatedWithZeros() throws IOException {
        byte[] bytes = storage.image().bytes(name(1));
        assertThat(bytes).hasSize(GEOMETRY.segmentBytes());
        assertThat(java.util.Arrays.copyOfRange(bytes, 40, bytes.length)).containsOnly(0);
    }

    @Test
    void discardedSegmentIsRecreated() throws IOException {
        segments.discard(1);
        assertThat(storage.list()).containsExactly(name(0));
        segments.prepareNext();
        segments.checkHeader(1);
    }

    /** Checks that no gap between segment files remains, because the store could not be opened with one. */
    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"OPEN", "WRITE", "FORCE", "MAP", "RENAME", "DELETE", "FORCE_DIRECTORY", "CLOSE"})
    void failedCallLeavesNoGapBetweenSegments(Kind kind) throws IOException {
        for (int which = 1; which < 30; which++) {
            FaultStorage faults = new FaultStorage(storage = new MemoryStorage());
            LogSegments log = new LogSegments(faults, GEOMETRY, STORE);
            for (int i = 0; i < 10; i++) {
                log.prepareNext();
            }
            faults.fail(FaultStorage.nth(which, FaultStorage.on(kind, ".*")));
            for (int round = 0; round < 2; round++) {
                tried(log::recycleFirst);
                tried(() -> log.discard(log.last()));
                tried(log::prepareNext);
                tried(() -> log.discard(log.last()));
                tried(() -> log.discard(log.last()));
                assertThat(storage.list()).as("%s %s of %s", round, which, kind).containsAll(consecutive());
                tried(log::prepareNext);
                tried(log::deleteFirst);
            }
            faults.heal();
            log.recycleFirst();
            log.prepareNext();
            assertThat(log.from(0)).as("%s of %s", which, kind).containsExactlyElementsOf(numbers());
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    private static void tried(Step step) {
        try {
            step.run();
        } catch (IOException once) {
            assertThat(once).hasMessageContaining("made to fail");
        }
    }

    private List<Long> numbers() throws IOException {
        return storage.list().stream()
                .map(name -> FileNames.LOG.number(name).orElse(-1))
                .filter(number -> number >= 0)
                .sorted()
                .toList();
    }

    /** Returns the names that the segment files would have if they were numbered without gaps from the first one. */
    private List<String> consecutive() throws IOException {
        List<Long> numbers = numbers();
        return LongStream.range(numbers.get(0), numbers.get(0) + numbers.size())
                .mapToObj(LogTest::name)
                .toList();
    }

    private static String name(long segment) {
        return FileNames.LOG.of(segment);
    }

    @Test
    void positionsRoundUpToBlocksAndSkipSegmentHeader() {
        assertThat(GEOMETRY.positionAfter(4097)).isEqualTo(8192);
        assertThat(GEOMETRY.positionAfter(8192)).isEqualTo(8192);
        assertThat(GEOMETRY.positionAfter(4 * 4096 - 1)).isEqualTo(5 * 4096);
        assertThat(GEOMETRY.positionAfter(4 * 4096)).isEqualTo(5 * 4096);
        assertThat(GEOMETRY.remaining(8192)).isEqualTo(8192);
    }
}
