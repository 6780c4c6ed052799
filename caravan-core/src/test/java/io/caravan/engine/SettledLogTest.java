package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.Durability;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.format.FileNames;
import io.caravan.io.StoreFile;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.CrashStorage.Call;
import io.caravan.testing.CrashStorage.Outcome;
import io.caravan.testing.Directors;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.StoreCalls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that data at the end of the log stays readable once an open has returned it, even after failed fsyncs. */
class SettledLogTest {
    private static final Predicate<Call> LOG_FSYNC = Directors.calls(Kind.FORCE, FaultyStore.LOG);
    private static final Predicate<Call> FRAME =
            Directors.calls(Kind.WRITE, FaultyStore.LOG).and(call -> call.position() > 0);

    /** Checks that values survive, although no later fsync writes or reports the pages that a failed fsync dropped. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("rounds")
    void recoveredValuesSurvivePowerCutAfterFailedFsync(boolean theFirstOpeningFailsToo) {
        Seeds.forEach(Rounds.of(20, 200), seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            CrashStorage disk = new CrashStorage(seed);
            Engine failing = openWithUnsynced(disk);
            disk.director(Directors.on(LOG_FSYNC, Outcome.FAIL_HALFWAY));
            assertThatThrownBy(() -> append(failing, 1, "d")).hasRootCauseInstanceOf(IOException.class);
            assertThatThrownBy(failing::flush).isInstanceOf(StoreFailedException.class);
            CrashStorage left = disk.processKill();
            failing.close();
            if (theFirstOpeningFailsToo) {
                left.director(Directors.on(LOG_FSYNC, Outcome.FAIL_HALFWAY));
                CrashStorage rejecting = left;
                assertThatThrownBy(() -> open(rejecting)).isInstanceOf(IOException.class);
                left = left.processKill();
            }
            try (Engine engine = open(left)) {
                List<String> shown = texts(engine, 1);
                assertThat(shown).containsExactly("0:a", "1:b", "2:c", "3:d");
                assertThat(shown(left.powerCut(random))).isEqualTo(shown);
                append(engine, 1, "e");
                assertThat(shown(left.powerCut(random))).hasSize(5).startsWith(shown.toArray(String[]::new));
            }
        });
    }

    /** Checks that values survive if a checkpoint fails to fsync the writes made at levels below {@code SYNC}. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void recoveredValuesSurvivePowerCutAfterFailedCheckpoint(boolean theStoreHadFailed) throws IOException {
        CrashStorage disk = new CrashStorage(1);
        Engine failing = openWithUnsynced(disk);
        disk.director(call -> {
            if (LOG_FSYNC.test(call)) {
                if (theStoreHadFailed) {
                    assertThatThrownBy(() -> awaitWrite(reported -> failing.append(1, bytes("d"), reported)))
                            .isInstanceOf(StoreFailedException.class);
                }
                return Outcome.FAIL_HALFWAY;
            }
            return FRAME.test(call) ? Outcome.FAIL : Outcome.PASS;
        });
        assertThatThrownBy(failing::checkpoint).isInstanceOf(StoreFailedException.class);
        CrashStorage left = disk.processKill();
        failing.close();
        try (Engine engine = open(left)) {
            List<String> shown = texts(engine, 1);
            assertThat(shown).startsWith("0:a", "1:b", "2:c");
            assertThat(shown(left.powerCut(new SplittableRandom(1)))).isEqualTo(shown);
        }
    }

    /**
     * Checks that no frame reappears after a power cut has removed the frame before it. New frames are written in its
     * place or at the start of the next segment, and may also be lost. Each open returns the values in order.
     */
    @Test
    @Tag("rounds")
    void cutOffFrameDoesNotReappearAfterNewFrame() {
        Seeds.forEach(Rounds.of(50, 2000), seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            CrashStorage disk = new CrashStorage(seed);
            List<String> all = new ArrayList<>();
            int fsynced = 0;
            for (int opening = 0; opening < 5; opening++) {
                try (Engine engine = open(disk)) {
                    List<String> shown = texts(engine, 1);
                    assertThat(shown).hasSizeGreaterThanOrEqualTo(fsynced).isEqualTo(all.subList(0, shown.size()));
                    all = new ArrayList<>(shown);
                    fsynced = all.size();
                    for (int left = random.nextInt(6); left > 0; left--) {
                        String value = opening + "x".repeat(random.nextBoolean() ? 0 : FaultyStore.MAX_VALUE_BYTES - 1);
                        all.add(all.size() + ":" + value);
                        if (random.nextInt(3) == 0) {
                            append(engine, 1, value);
                            fsynced = all.size();
                        } else {
                            appendWeakly(engine, value);
                        }
                    }
                    disk = random.nextBoolean() ? disk.powerCut(random) : disk.processKill();
                }
            }
        });
    }

    /**
     * Checks that a partly destroyed frame stays cut off after opening, even if its lost bytes reappear. A torn write
     * of a new frame can restore bytes that are equal in both frames.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cutOffFrameDoesNotReappearWhenItsBytesDo(boolean inNextSegment) throws IOException {
        CrashStorage disk = new CrashStorage(1);
        try (Engine engine = open(disk)) {
            append(engine, 1, "a");
            if (inNextSegment) {
                append(engine, 1, "b");
            }
            appendWeakly(engine, "x".repeat(FaultyStore.MAX_VALUE_BYTES));
            CrashStorage left = disk.processKill();
            String segment = FileNames.LOG.of(inNextSegment ? 1 : 0);
            int lostByte = (inNextSegment ? 4096 : 2 * 4096) + 1000;
            left.rot(segment, lostByte, 1);
            List<String> shown = shown(left);
            assertThat(shown).hasSize(inNextSegment ? 2 : 1);
            left.rot(segment, lostByte, 1);
            assertThat(shown(left)).isEqualTo(shown);
        }
    }

    /** Checks that opening rewrites no fsynced frame, because a power loss may garble a block that is being written. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void openingDoesNotRewriteFsyncedFrames(boolean powerIsLost) throws IOException {
        CrashStorage disk = new CrashStorage(1);
        try (Engine engine = open(disk)) {
            append(engine, 1, "a");
            append(engine, 1, "b");
            CrashStorage left = powerIsLost ? disk.powerCut(new SplittableRandom(1)) : disk.processKill();
            assertThat(writesOfOpening(left)).noneMatch(FRAME);
        }
    }

    /**
     * Checks that opening rewrites unsynced frames, but not the headers of their segments, which were fsynced on
     * creation.
     */
    @Test
    void openingRewritesFramesButNotHeadersOfSegmentsInUse() throws IOException {
        CrashStorage disk = new CrashStorage(1);
        try (Engine engine = open(disk)) {
            String large = "x".repeat(FaultyStore.MAX_VALUE_BYTES);
            for (int i = 0; i < 3 * FaultyStore.LOG_SEGMENT_BYTES / FaultyStore.MAX_VALUE_BYTES; i++) {
                appendWeakly(engine, large);
            }
            CrashStorage left = disk.processKill();
            String lastSegment = left.list().stream()
                    .filter(name -> name.matches(FaultyStore.LOG))
                    .max(Comparator.naturalOrder())
                    .orElseThrow();
            List<Call> writes = writesOfOpening(left);
            assertThat(writes).as("frames").filteredOn(FRAME).hasSizeGreaterThan(3);
            assertThat(writes)
                    .as("headers")
                    .filteredOn(FRAME.negate())
                    .allMatch(call -> call.file().equals(lastSegment));
        }
    }

    /** Checks that opening fails if a frame reads differently after its clean page has left the page cache. */
    @Test
    void openingFailsIfUnsyncedFrameChangesDuringRecovery() throws IOException {
        CrashStorage disk = new CrashStorage(1);
        try (Engine engine = openWithUnsynced(disk)) {
            CrashStorage left = disk.processKill();
            left.director(call -> {
                boolean settles = call.kind() == Kind.OPEN && call.file().equals(FileNames.FORCED_LSN);
                if (settles) {
                    left.rot(FileNames.LOG.of(0), 3 * 4096 + 60, 1);
                }
                return Outcome.PASS;
            });
            assertThatThrownBy(() -> open(left))
                    .isInstanceOf(IOException.class)
                    .hasMessageContainingAll(FileNames.LOG.of(0), "open the store again");
            left.director(call -> Outcome.PASS);
            assertThat(shown(left)).containsExactly("0:a", "1:b");
        }
    }

    private static List<Call> writesOfOpening(CrashStorage left) throws IOException {
        List<Call> writes = new ArrayList<>();
        left.director(call -> {
            if (Directors.calls(Kind.WRITE, FaultyStore.LOG).test(call)) {
                writes.add(call);
            }
            return Outcome.PASS;
        });
        open(left).close();
        return writes;
    }

    /** Checks that a half-made segment is discarded, regardless of its former content. */
    @Test
    void discardsIncompleteSegmentWithAnyContent() throws IOException {
        CrashStorage disk = new CrashStorage(1);
        try (Engine engine = open(disk)) {
            append(engine, 1, "a");
            CrashStorage left = disk.processKill();
            long next = left.list().stream()
                    .filter(name -> name.matches(FaultyStore.LOG))
                    .count();
            ByteBuffer segment = ByteBuffer.allocate(left.size(FileNames.LOG.of(0)));
            segment.put(2 * 4096 + 1000, (byte) 1);
            try (StoreFile file = left.create(FileNames.LOG.of(next), segment.capacity())) {
                file.write(segment, 0);
            }
            assertThat(shown(left)).containsExactly("0:a");
        }
    }

    /**
     * Checks that a half-made last segment is discarded if it contains frames after a gap. One power cut has left the
     * gap, and others have interrupted opens that were completing the segment.
     */
    @Test
    void discardsIncompleteSegmentWithCutOffFrames() throws IOException {
        CrashStorage disk = new CrashStorage(1);
        try (Engine engine = openWithUnsynced(disk)) {
            appendWeakly(engine, "d");
            CrashStorage left = disk.processKill();
            left.rot(FileNames.LOG.of(0), 2 * 4096, 1);
            left.rot(FileNames.LOG.of(1), 0, 1);
            for (String name : left.list()) {
                if (FileNames.LOG.number(name).orElse(0) > 1) {
                    left.delete(name);
                }
            }
            try (Engine reopened = open(left)) {
                assertThat(texts(reopened, 1)).containsExactly("0:a");
                assertThat(append(reopened, 1, "e")).isEqualTo(1);
            }
        }
    }

    /** Opens a new store with "a", which was fsynced, and "b" and "c", which were not. */
    private static Engine openWithUnsynced(CrashStorage disk) throws IOException {
        Engine engine = open(disk);
        append(engine, 1, "a");
        appendWeakly(engine, "b", "c");
        return engine;
    }

    private static void appendWeakly(Engine engine, String... values) {
        for (String value : values) {
            StoreCalls.await(engine.write(
                    WriteBatch.create().append(1, StoreCalls.bytes(value)).durability(Durability.PROCESS)));
        }
    }

    /** Opens the store and returns the values that it contains. */
    private static List<String> shown(CrashStorage disk) throws IOException {
        try (Engine engine = open(disk)) {
            return texts(engine, 1);
        }
    }

    private static Engine open(CrashStorage disk) throws IOException {
        return Engine.open(FaultyStore.small().build(), disk, System::nanoTime);
    }
}
