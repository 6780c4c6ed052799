package io.caravan.wal;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests reading frames, and the space between them, in a segment many times as long as the read-ahead window. */
class LogFramesTest {
    private static final LogGeometry GEOMETRY = new LogGeometry(16 * LogFrames.READ_AHEAD_BYTES);
    private static final long STORE = 77;
    private static final int SMALL = 3 * Blocks.BLOCK_BYTES;

    private final MemoryStorage storage = new MemoryStorage(new DirectoryImage(new TreeMap<>()));
    private final LogSegments segments = new LogSegments(storage, GEOMETRY, STORE);
    private final List<Long> written = new ArrayList<>();
    private long tail = GEOMETRY.firstFrame(0);
    private int term = 1;
    private Link last = Link.NONE;

    @BeforeEach
    void makeASegment() throws IOException {
        segments.prepareNext();
    }

    /** Writes a frame that is {@code bytes} long. */
    private void write(int bytes) throws IOException {
        ByteBuffer frame = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int payloadBytes = bytes - FrameLayout.HEADER_BYTES;
        FrameLayout.seal(frame, FrameLayout.MAGIC_VALUE, STORE, tail, term, last, payloadBytes, 0);
        segments.file(0).write(frame, tail);
        last = FrameLayout.link(frame, 0);
        written.add(tail);
        tail = GEOMETRY.positionAfter(tail + bytes);
    }

    private void damage(long lsn) throws IOException {
        segments.file(0).write(ByteBuffer.wrap(new byte[] {1}), lsn + FrameLayout.HEADER_BYTES);
    }

    private LogFrames frames(int readAheadBytes) {
        return new LogFrames(
                GEOMETRY, STORE, segment -> segments.ready(segment) ? segments.file(segment) : null, readAheadBytes);
    }

    private List<Long> followed(LogFrames frames) throws IOException {
        List<Long> found = new ArrayList<>();
        long position = GEOMETRY.firstFrame(0);
        Link previous = Link.NONE;
        long next = frames.following(position, previous);
        while (next != LogFrames.NOWHERE) {
            found.add(next);
            previous = frames.linkOf(next);
            next = frames.following(frames.positionBehind(next), previous);
        }
        return found;
    }

    @Test
    void windowGrowsOnlyForLargeFrames() throws IOException {
        for (int i = 0; i < 3 * LogFrames.READ_AHEAD_BYTES / SMALL; i++) {
            write(SMALL);
        }
        LogFrames frames = frames(LogFrames.READ_AHEAD_BYTES);
        assertThat(followed(frames)).isEqualTo(written);
        assertThat(frames.window().capacity()).isEqualTo(LogFrames.READ_AHEAD_BYTES);

        write(3 * LogFrames.READ_AHEAD_BYTES);
        write(SMALL);
        assertThat(followed(frames)).isEqualTo(written);
        assertThat(frames.window().capacity()).isEqualTo(3 * LogFrames.READ_AHEAD_BYTES);
    }

    @Test
    void keepsOneFrameAndSeesNewWritesWithoutReadAhead() throws IOException {
        write(SMALL);
        LogFrames frames = frames(LogFrames.NO_READ_AHEAD);
        assertThat(frames.validAt(tail)).isFalse();
        write(SMALL);
        assertThat(followed(frames)).isEqualTo(written);
        assertThat(frames.window().capacity()).isEqualTo(SMALL);
        damage(written.get(1));
        assertThat(frames.validAt(written.get(1))).isFalse();
    }

    @Test
    void skipsDamagedFrameBlockByBlock() throws IOException {
        for (int i = 0; i < 3; i++) {
            write(SMALL);
        }
        damage(written.get(1));
        LogFrames frames = frames(LogFrames.READ_AHEAD_BYTES);
        assertThat(followed(frames)).containsExactly(written.get(0));

        List<Long> passed = new ArrayList<>();
        assertThat(frames.firstValid(0, written.get(1), 0, passed::add)).isEqualTo(written.get(2));
        assertThat(passed)
                .containsExactly(
                        written.get(1), written.get(1) + Blocks.BLOCK_BYTES, written.get(1) + 2 * Blocks.BLOCK_BYTES);
        assertThat(frames.fieldsRight(written.get(1), written.get(0))).isEqualTo(4);
        assertThat(frames.firstValid(0, tail, 0, lsn -> {})).isEqualTo(LogFrames.NOWHERE);
        assertThat(frames.firstValid(1, tail, 0, lsn -> {})).isEqualTo(LogFrames.NOWHERE);
    }

    /** Checks that a stale frame is not accepted after a newer, equally long frame that replaced its predecessor. */
    @Test
    void staleFrameDoesNotFollowNewerTerm() throws IOException {
        write(SMALL);
        Link before = last;
        write(SMALL);
        write(SMALL);
        tail = written.get(1);
        last = before;
        term = 2;
        write(SMALL);
        LogFrames frames = frames(LogFrames.READ_AHEAD_BYTES);
        assertThat(followed(frames)).containsExactly(written.get(0), written.get(1));
        assertThat(frames.validAt(written.get(2))).isTrue();
        assertThat(frames.firstValid(0, tail, 2, lsn -> {})).isEqualTo(LogFrames.NOWHERE);
    }

    /** Checks that the term of a torn frame counts as used, so that no later frame can equal the torn one. */
    @Test
    void termOfTornFrameCountsAsUsed() throws IOException {
        write(SMALL);
        term = 5;
        write(SMALL);
        damage(written.get(1));
        LogScanner.End end = new LogScanner(segments)
                .scan(
                        written.get(0),
                        Link.NONE,
                        new LogScanner.ProvenEnd(0, ""),
                        OptionalLong.empty(),
                        false,
                        (bytes, at, lsn) -> {});
        assertThat(end.position()).isEqualTo(written.get(1));
        assertThat(end.term()).isEqualTo(5);
    }

    @Test
    void frameInTruncatedSegmentIsBegunButInvalid() throws IOException {
        write(SMALL);
        write(SMALL);
        DirectoryImage cut = storage.image().truncated(FileNames.LOG.of(0), (int) (tail - Blocks.BLOCK_BYTES));
        try (var file = new MemoryStorage(cut).open(FileNames.LOG.of(0))) {
            LogFrames frames = new LogFrames(GEOMETRY, STORE, segment -> file, LogFrames.READ_AHEAD_BYTES);
            assertThat(frames.validAt(written.get(0))).isTrue();
            assertThat(frames.validAt(written.get(1))).isFalse();
            assertThat(frames.begunAt(written.get(1))).isTrue();
        }
    }
}
