package io.caravan.engine;

import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.StoreIoException;
import io.caravan.format.EntryLayout;
import io.caravan.inspect.Verifier;
import io.caravan.testing.Eventually;
import io.caravan.testing.Patient;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.SmallDisk;
import io.caravan.testing.WatchedThreading;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A store that has filled its disk itself takes appends again when documents are deleted, with no restart, on disks of
 * many sizes: whether it does depends on where the last log segment and the last heap segment fall. All sizes are a 32nd
 * of the usual ones, but for those of values.
 */
@Patient
@Execution(ExecutionMode.CONCURRENT)
class FullDiskRecoversTest {
    private static final int MIB = 1 << 20;
    private static final int DOCUMENTS = 10;
    private static final int IN_FLIGHT = 32;
    private static final int LEAST_DISK_BYTES = 272 * MIB / 32;
    private static final int HASTE = 50;

    private static StoreConfig config() {
        return StoreConfig.builder(Path.of("small"))
                .maxValueBytes(60_000)
                .logBufferBytes(128 << 10)
                .logSegmentBytes(MIB)
                .heapSegmentBytes(2 * MIB)
                .checkpointFloorBytes(2 * MIB)
                .build();
    }

    private static Engine open(SmallDisk disk) throws IOException {
        WatchedThreading threads = new WatchedThreading(HASTE);
        return Engine.open(config(), disk, threads::hastyNanos, threads);
    }

    static Stream<Arguments> disks() {
        return IntStream.range(0, 24).boxed().flatMap(i -> {
            int diskBytes = LEAST_DISK_BYTES + i * 17 * MIB / 32 + i * i * MIB / 64;
            int kept = i % 4 == 0 ? 0 : 1;
            return Stream.of(Arguments.of(diskBytes, 5_000, kept), Arguments.of(diskBytes, 50_000, kept));
        });
    }

    @ParameterizedTest(name = "{0} bytes, values of {1}, {2} of ten documents kept")
    @MethodSource("disks")
    @Tag("thorough")
    void appendsResumeWhenDocumentsAreDeleted(int diskBytes, int valueBytes, int kept) throws IOException {
        recovers(diskBytes, valueBytes, kept, false);
    }

    @Test
    @Tag("rounds")
    void appendsResumeOnADiskOfAnySize() {
        Seeds.forEach(Rounds.of(4, 300), seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            recovers(
                    LEAST_DISK_BYTES + random.nextInt(40 * MIB),
                    random.nextInt(1, 60_000),
                    random.nextInt(4),
                    random.nextBoolean());
        });
    }

    private static void recovers(int diskBytes, int valueBytes, int kept, boolean restarts) throws IOException {
        SmallDisk disk = new SmallDisk(diskBytes);
        Engine engine = open(disk);
        try {
            long filled = fill(engine, valueBytes);
            assertThat(filled * EntryLayout.entryBytes(valueBytes))
                    .as("bytes of entries on a new disk")
                    .isGreaterThan(diskBytes / 8);
            if (restarts) {
                engine.close();
                engine = open(disk);
            }
            for (int id = kept; id < DOCUMENTS; id++) {
                engine.delete(id).join();
            }
            Engine store = engine;
            awaitAccepted(disk, store, DOCUMENTS, new byte[1]);
            awaitAccepted(disk, store, 0, bytes(valueBytes, 0));
            AtomicLong refilled = new AtomicLong();
            Eventually.await(
                    "a quarter of what fitted before is accepted",
                    () -> refilled.addAndGet(appendGroup(store, refilled.get(), valueBytes)) > filled / 4);
        } finally {
            engine.close();
        }
        assertThat(Verifier.verify(disk, (step, done, total) -> {}).faults()).isEmpty();
    }

    /** Fails with why the store refuses it, and what the disk has left. */
    private static void awaitAccepted(SmallDisk disk, Engine store, long id, byte[] value) {
        try {
            Eventually.await("an append is accepted", () -> accepted(store.append(id, value)));
        } catch (AssertionError late) {
            Throwable refusal =
                    store.append(id, value).handle((sequence, why) -> why).join();
            throw new AssertionError(
                    value.length + " bytes: " + refusal + "; of " + disk.list() + ", " + disk.usableBytes()
                            + " bytes are left; " + store.stats(),
                    late);
        }
    }

    /** Appends until all appends are refused, also after further checkpoints. Returns how many were accepted. */
    private static long fill(Engine engine, int valueBytes) {
        long accepted = 0;
        int refusals = 0;
        while (refusals < 4) {
            long more = appendGroup(engine, accepted, valueBytes);
            accepted += more;
            refusals = more > 0 ? 0 : refusals + 1;
            if (more < IN_FLIGHT) {
                checkpoint(engine);
            }
        }
        return accepted;
    }

    private static long appendGroup(Engine engine, long first, int valueBytes) {
        List<CompletableFuture<Long>> group = new ArrayList<>();
        for (int i = 0; i < IN_FLIGHT; i++) {
            group.add(engine.append((first + i) % DOCUMENTS, bytes(valueBytes, i)));
        }
        return group.stream().filter(FullDiskRecoversTest::accepted).count();
    }

    private static void checkpoint(Engine engine) {
        try {
            engine.checkpoint();
        } catch (StoreIoException noSpace) {
            // Tried again by the store itself.
        }
    }

    private static boolean accepted(CompletableFuture<Long> append) {
        try {
            append.join();
            return true;
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof OutOfSpaceException) {
                return false;
            }
            throw failed;
        }
    }
}
