package io.caravan.engine;

import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.StoreIoException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.format.EntryLayout;
import io.caravan.inspect.Verifier;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.SmallDisk;
import io.caravan.testing.simulator.SimulatedClock;
import io.caravan.testing.simulator.SimulatedScheduler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Checks, on disks of many sizes, that a store that has filled its disk accepts appends again after deletions, without
 * a restart. Success may depend on where the last log segment and the last heap segment end, and on the order in which
 * the threads of the store run. The threads are simulated, so a seed reproduces a run.
 */
class FullDiskRecoversTest {
    private static final int KIB = 1024;
    private static final int DOCUMENTS = 10;
    private static final int RECORDS = DOCUMENTS + 1;
    private static final int IN_FLIGHT = 32;
    private static final int MAX_VALUE_BYTES = 15_000;
    private static final int LEAST_DISK_BYTES = 2_200 * KIB;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** The maximum number of pauses before an append must be accepted: about a minute of simulated time. */
    private static final int MOST_PAUSES = 600;

    private final StoreConfig config = StoreConfig.builder(Path.of("small"))
            .maxValueBytes(MAX_VALUE_BYTES)
            .logBufferBytes(32 * KIB)
            .logSegmentBytes(256 * KIB)
            .heapSegmentBytes(512 * KIB)
            .checkpointFloorBytes(512 * KIB)
            .build();

    private SplittableRandom random;
    private SmallDisk disk;
    private SimulatedScheduler threads;
    private String rejection = "";

    static Stream<Arguments> disks() {
        return IntStream.range(0, 24).boxed().flatMap(i -> {
            int diskBytes = LEAST_DISK_BYTES + i * 136 * KIB + i * i * 4 * KIB;
            int kept = i % 4 == 0 ? 0 : 1;
            return Stream.of(Arguments.of(diskBytes, 1_250, kept), Arguments.of(diskBytes, 12_500, kept));
        });
    }

    @ParameterizedTest(name = "{0} bytes, values of {1}, {2} of ten documents kept")
    @MethodSource("disks")
    @Tag("thorough")
    void appendsResumeWhenDocumentsAreDeleted(int diskBytes, int valueBytes, int kept) throws IOException {
        Seeds.forEach(1, seed -> recovers(new SplittableRandom(seed), diskBytes, valueBytes, kept));
    }

    @Test
    @Tag("rounds")
    void appendsResumeOnDiskOfAnySize() {
        Seeds.forEach(Rounds.of(10, 3_000), seed -> {
            SplittableRandom chance = new SplittableRandom(seed);
            recovers(
                    chance,
                    LEAST_DISK_BYTES + chance.nextInt(10_000 * KIB),
                    chance.nextInt(1, 10) == 1 ? chance.nextInt(20, 1_000) : chance.nextInt(1_000, MAX_VALUE_BYTES),
                    chance.nextInt(4));
        });
    }

    private void recovers(SplittableRandom chance, int diskBytes, int valueBytes, int kept) throws IOException {
        random = chance;
        rejection = "";
        disk = new SmallDisk(diskBytes);
        Engine engine = open();
        long filled = fill(engine, valueBytes);
        assertThat(filled * EntryLayout.entryBytes(valueBytes))
                .as("bytes of entries on a new disk")
                .isGreaterThan(diskBytes / 8);
        if (random.nextBoolean()) {
            fillTheRest(engine, valueBytes);
        }
        if (random.nextBoolean()) {
            close(engine);
            engine = open();
        }
        Engine store = engine;
        for (int i = kept; i < DOCUMENTS; i++) {
            int id = i;
            boolean recorded = random.nextBoolean();
            awaitAccepted(
                    store, "the deletion of document " + id, callback -> store.write(deletion(id, recorded), callback));
            if (random.nextInt(4) == 0) {
                pause();
            }
        }
        awaitAccepted(store, "a byte", callback -> store.append(DOCUMENTS, new byte[1], callback));
        long refilled = 0;
        for (int pauses = 0; refilled <= filled / 4; pauses++) {
            long more = appendGroup(store, refilled, valueBytes);
            if (more > 0) {
                refilled += more;
                pauses = 0;
            } else {
                assertThat(pauses)
                        .as("after " + refilled + " of " + filled + " values that fitted before: " + rejection)
                        .isLessThan(MOST_PAUSES);
                pause();
            }
        }
        close(store);
        assertThat(Verifier.verify(disk, (step, done, total) -> {}).faults()).isEmpty();
    }

    private static WriteBatch deletion(int id, boolean recorded) {
        WriteBatch batch = WriteBatch.create().delete(id);
        return recorded ? batch.append(RECORDS, bytes(100, id)) : batch;
    }

    private Engine open() throws IOException {
        SimulatedClock clock = new SimulatedClock();
        threads = new SimulatedScheduler(random.split(), clock);
        SimulatedScheduler others = threads;
        Engine engine = Engine.open(config, disk, clock, threads);
        disk.concurrently(() -> {
            if (random.nextInt(4) == 0) {
                others.stepInside();
            }
        });
        return engine;
    }

    private void close(Engine engine) {
        disk.concurrently(() -> {});
        engine.close();
    }

    /**
     * Appends until the store rejects all appends, even after further checkpoints. Returns the number of accepted
     * appends.
     */
    private long fill(Engine engine, int valueBytes) {
        long accepted = 0;
        int rejections = 0;
        while (rejections < 4) {
            long more = appendGroup(engine, accepted, valueBytes);
            accepted += more;
            rejections = more > 0 ? 0 : rejections + 1;
            if (more < IN_FLIGHT) {
                checkpoint(engine);
            }
            if (random.nextInt(8) == 0) {
                pause();
            }
        }
        return accepted;
    }

    /** Appends ever smaller values, so that the deletions that follow must continue in the next log segment. */
    private void fillTheRest(Engine engine, int valueBytes) {
        for (int length = valueBytes / 2; length > 0; length = length * 2 / 3) {
            byte[] value = new byte[length];
            for (int id = 0; accepted(callback -> engine.append(DOCUMENTS - 1, value, callback)); id++) {
                if (id > 4 * IN_FLIGHT) {
                    break;
                }
            }
        }
    }

    private long appendGroup(Engine engine, long first, int valueBytes) {
        long accepted = 0;
        for (int i = 0; i < IN_FLIGHT; i++) {
            byte[] value = bytes(valueBytes, i);
            long id = (first + i) % DOCUMENTS;
            accepted += accepted(callback -> engine.append(id, value, callback)) ? 1 : 0;
        }
        return accepted;
    }

    private static void checkpoint(Engine engine) {
        try {
            engine.checkpoint();
        } catch (StoreIoException noSpace) {
            // The store itself tries again.
        }
    }

    /** Advances the simulated time and lets the store's threads do all their work. */
    private void pause() {
        threads.letTimePass(1 + random.nextLong(2 * PAUSE_NANOS));
        for (int steps = 0; steps < 1_000 && threads.step(); steps++) {
            // Run one step.
        }
    }

    private void awaitAccepted(Engine engine, String what, Consumer<WriteCallback> write) {
        for (int pauses = 0; !accepted(write); pauses++) {
            assertThat(pauses)
                    .as(what + " is rejected: " + rejection + "; of " + disk.list() + ", " + disk.usableBytes()
                            + " bytes are left; " + engine.stats())
                    .isLessThan(MOST_PAUSES);
            pause();
        }
    }

    private boolean accepted(Consumer<WriteCallback> write) {
        CompletableFuture<Long> done = new CompletableFuture<>();
        try {
            write.accept(WriteCallback.completing(done));
        } catch (OutOfSpaceException full) {
            rejection = full.getMessage();
            return false;
        }
        threads.join(done);
        return true;
    }
}
