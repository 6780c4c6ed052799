package io.caravan.testing.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Explores interleavings of a few threads on one store; a hundred thousand in the {@code thorough} profile. */
class InterleavingsTest {
    private static final int INTERLEAVINGS = Rounds.of(75, 20_000);
    /** The maximum number of seeds, far more than needed: about one in a hundred detects even the subtlest sabotage. */
    private static final int SEEDS = 3_000;

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(Interleavings.class)
    @Tag("rounds")
    void exploredInterleavingsSucceed(Interleavings program) {
        AtomicLong explored = new AtomicLong();
        Seeds.forEach(Math.max(1, INTERLEAVINGS / program.rounds()), seed -> {
            program.explore(seed);
            explored.addAndGet(program.rounds());
        });
        System.out.printf("%s: %,d interleavings%n", program, explored.get());
        assertThat(explored.get()).isPositive();
    }

    /** Checks that the programs detect sabotage; otherwise, they would prove nothing. */
    @ParameterizedTest
    @CsvSource({
        "FLUSHES, FLUSH_WHILE_ANOTHER_FLUSHES",
        "READERS, LET_A_READER_SEE_WHAT_IS_NOT_FORCED",
        "CHECKPOINTS, FREE_WHAT_A_READER_HAS_PINNED",
        "CHECKPOINTS, RECYCLE_A_LOG_SEGMENT_THAT_THE_INDEX_STILL_NAMES",
        "CLOSING, FLUSH_WHILE_ANOTHER_FLUSHES"
    })
    void detectsSabotage(Interleavings program, Sabotage sabotage) throws Exception {
        Class<?> sabotaged = SabotagedBuild.of(sabotage.edits(), directory).loadClass(Interleavings.class.getName());
        Method search = sabotaged.getDeclaredMethod("firstFailure", String.class, long.class, int.class);
        search.setAccessible(true);
        Object failure = search.invoke(null, program.name(), 1_000, SEEDS);
        assertThat(failure).isNotNull();
        System.out.println("found: " + sabotage.description() + " (" + failure + ")");
    }

    @Test
    void monitorHasAtMostOneOwner() {
        for (long seed = 0; seed < 2_000; seed++) {
            try (Interleaver threads = new Interleaver(seed)) {
                Object lock = new Object();
                AtomicInteger owners = new AtomicInteger();
                for (int i = 0; i < 4; i++) {
                    threads.thread("thread " + i, () -> {
                        for (int time = 0; time < 3; time++) {
                            Interleaver.enter(lock);
                            owners.incrementAndGet();
                            Interleaver.point();
                            owners.decrementAndGet();
                            Interleaver.exit(lock);
                        }
                    });
                }
                threads.always(() -> assertThat(owners.get()).isBetween(0, 1));
                threads.run();
            }
        }
    }
}
