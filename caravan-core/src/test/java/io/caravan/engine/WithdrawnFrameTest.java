package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static io.caravan.testing.StoreCalls.told;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.Durability;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.format.FileNames;
import io.caravan.io.StoreFile;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.Directors;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.StoreCalls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a frame whose force failed although all of it had reached the disk. */
class WithdrawnFrameTest {

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("rounds")
    void itDoesNotComeBackOnceTheStoreWasOpenedWithoutIt(boolean theFirstOpeningFailsToo) {
        Seeds.forEach(Rounds.of(10, 100), seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            CrashStorage disk = new CrashStorage(seed);
            Engine failing = open(disk);
            append(failing, 1, "a");
            // So that opening replays nothing: what it replays is forced anyway.
            failing.checkpoint();
            failForcesOfWhatIsWritten(disk, random);
            assertThatThrownBy(() -> append(failing, 1, "b")).hasRootCauseInstanceOf(IOException.class);
            assertThatThrownBy(failing::flush).isInstanceOf(StoreFailedException.class);

            checkReopened(killed(disk, failing, theFirstOpeningFailsToo), random);
        });
    }

    /** All of a frame reaches the disk, and its force fails. */
    private static void failForcesOfWhatIsWritten(CrashStorage disk, SplittableRandom random) {
        disk.director(call -> {
            if (Directors.calls(Kind.FORCE, FaultyStore.LOG).test(call)) {
                writeAllBack(disk, random);
                return CrashStorage.Outcome.FAIL;
            }
            return CrashStorage.Outcome.PASS;
        });
    }

    private static CrashStorage killed(CrashStorage disk, Engine failing, boolean theFirstOpeningFailsToo) {
        CrashStorage reopened = disk.processKill();
        failing.close();
        if (!theFirstOpeningFailsToo) {
            return reopened;
        }
        reopened.director(
                Directors.on(Directors.calls(Kind.FORCE, FileNames.LOG.of(0)), CrashStorage.Outcome.FAIL_HALFWAY));
        assertThatThrownBy(() -> open(reopened)).isInstanceOf(IOException.class);
        return reopened.processKill();
    }

    private static void checkReopened(CrashStorage reopened, SplittableRandom random) throws IOException {
        try (Engine engine = open(reopened)) {
            assertThat(texts(engine, 1)).containsExactly("0:a");
            CrashStorage[] cut = new CrashStorage[1];
            reopened.director(call -> {
                if (cut[0] == null
                        && Directors.calls(Kind.FORCE, FaultyStore.LOG).test(call)) {
                    cut[0] = reopened.powerCut(random);
                }
                return CrashStorage.Outcome.PASS;
            });
            append(engine, 1, "c");
            try (Engine last = open(cut[0])) {
                assertThat(texts(last, 1)).isIn(List.of("0:a"), List.of("0:a", "1:c"));
            }
        }
    }

    /** One force fails that was to cover several frames; all have reached the disk, and no withdrawal has. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("rounds")
    void noneOfSeveralComesBackBehindANewOne(boolean theFirstOpeningFailsToo) {
        Seeds.forEach(Rounds.of(20, 200), seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            CrashStorage disk = new CrashStorage(seed);
            Engine failing = open(disk);
            append(failing, 1, "a");
            failing.checkpoint();
            for (String value : List.of("old 1", "old 2", "old 3", "old 4")) {
                appendWeakly(failing, value);
            }
            failForcesOfWhatIsWritten(disk, random);
            assertThatThrownBy(() -> append(failing, 1, "b")).hasRootCauseInstanceOf(IOException.class);
            CrashStorage again = killed(disk, failing, theFirstOpeningFailsToo);
            List<String> all = new ArrayList<>(List.of("0:a"));
            CrashStorage cut;
            try (Engine engine = open(again)) {
                assertThat(texts(engine, 1)).isEqualTo(all);
                for (int i = 1; i <= 4; i++) {
                    appendWeakly(engine, "new " + i);
                    all.add(i + ":new " + i);
                }
                cut = again.powerCut(random);
            }
            try (Engine last = open(cut)) {
                List<String> left = texts(last, 1);
                assertThat(left).isNotEmpty().isEqualTo(all.subList(0, left.size()));
            }
        });
    }

    /** A checkpoint forces the log's files before the flusher does, below {@code SYNC} all that was written meanwhile. */
    @Test
    void whatACheckpointCouldNotForceIsTakenBackToo() throws IOException {
        CrashStorage disk = new CrashStorage(1);
        Engine failing = openWithUnforced(disk);
        disk.director(Directors.on(Directors.calls(Kind.FORCE, FaultyStore.LOG), CrashStorage.Outcome.FAIL_HALFWAY));
        assertThatThrownBy(failing::checkpoint)
                .isInstanceOf(StoreFailedException.class)
                .hasRootCauseInstanceOf(IOException.class);
        CrashStorage killed = disk.processKill();
        failing.close();
        try (Engine engine = open(killed)) {
            assertThat(texts(engine, 1)).containsExactly("0:a");
        }
    }

    /** The store fails by a write while the checkpoint's force is under way, which then fails as well. */
    @Test
    void whatACheckpointCouldNotForceIsTakenBackOfAStoreThatHasFailed() throws IOException {
        CrashStorage disk = new CrashStorage(1);
        Engine failing = openWithUnforced(disk);
        disk.director(call -> {
            if (Directors.calls(Kind.FORCE, FaultyStore.LOG).test(call)) {
                assertThatThrownBy(() -> told(told -> failing.append(1, bytes("d"), told)))
                        .isInstanceOf(StoreFailedException.class);
                return CrashStorage.Outcome.FAIL_HALFWAY;
            }
            boolean frame = Directors.calls(Kind.WRITE, FaultyStore.LOG).test(call) && call.bytes() >= 4096;
            return frame ? CrashStorage.Outcome.FAIL : CrashStorage.Outcome.PASS;
        });
        assertThatThrownBy(failing::checkpoint).isInstanceOf(StoreFailedException.class);
        failing.close();
        try (Engine engine = open(disk.processKill())) {
            assertThat(texts(engine, 1)).containsExactly("0:a");
        }
    }

    /** A segment that was being made is discarded, whatever it has from when it was another. */
    @Test
    void aHalfMadeSegmentMayLookAsIfItHadWithdrawnFrames() throws IOException {
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
            try (Engine reopened = open(left)) {
                assertThat(texts(reopened, 1)).containsExactly("0:a");
            }
        }
    }

    /** One power cut has left a gap, and others came while the store was opened and finished its last segment. */
    @Test
    void aHalfMadeSegmentMayHaveFramesThatAPowerCutHasCutOff() throws IOException {
        CrashStorage disk = new CrashStorage(1);
        try (Engine engine = openWithUnforced(disk)) {
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

    /** A new store with "a", which was forced, and "b" and "c", which were not. */
    private static Engine openWithUnforced(CrashStorage disk) throws IOException {
        Engine engine = open(disk);
        append(engine, 1, "a");
        appendWeakly(engine, "b");
        appendWeakly(engine, "c");
        return engine;
    }

    private static void appendWeakly(Engine engine, String value) {
        StoreCalls.await(engine.write(
                WriteBatch.create().append(1, StoreCalls.bytes(value)).durability(Durability.PROCESS)));
    }

    private static Engine open(CrashStorage disk) throws IOException {
        return Engine.open(FaultyStore.small().build(), disk, System::nanoTime);
    }

    private static void writeAllBack(CrashStorage disk, SplittableRandom random) {
        String name = FaultyStore.LOG;
        for (int i = 0; i < 10_000 && anyDiffers(disk, name); i++) {
            disk.writeBack(random);
        }
        assertThat(anyDiffers(disk, name)).isFalse();
    }

    private static boolean anyDiffers(CrashStorage disk, String names) {
        return disk.list().stream()
                .filter(name -> name.matches(names))
                .anyMatch(name -> !java.util.Arrays.equals(disk.visible(name), disk.durable(name)));
    }
}
