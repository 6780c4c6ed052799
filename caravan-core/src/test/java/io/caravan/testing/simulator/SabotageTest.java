package io.caravan.testing.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Checks that the simulator detects every sabotage, and prints the number of cuts that this took. Most of these tests
 * run only in the profile {@code thorough}.
 */
class SabotageTest {
    private static final long SEED = 1;
    private static final long CUTS = 800_000;
    private static final long CUTS_OF_AN_HONEST_BUILD = 5_000;
    /**
     * The first seeds for sabotages that would be detected only after many cuts if {@link #SEED} were the first seed.
     */
    private static final Map<Sabotage, Long> FIRST_SEEDS = Map.of(
            Sabotage.LET_FRAMES_THAT_WERE_CUT_OFF_FOLLOW_NEW_ONES, 415L,
            Sabotage.REUSE_A_REGION_BEFORE_THE_FREEING_FRAME_IS_DURABLE, 5L,
            Sabotage.REUSE_A_REGION_THAT_THE_NEWEST_CHECKPOINT_NAMES, 5L,
            Sabotage.SWAP_REGIONS_THAT_MAY_HAVE_BEEN_FREED, 33L,
            Sabotage.TRUNCATE_AT_THE_FIRST_BAD_FRAME_THOUGH_VALID_ONES_FOLLOW, 19L,
            Sabotage.RETRY_A_FAILED_FORCE_AND_ACKNOWLEDGE, 9L,
            Sabotage.NOTE_A_FORCE_BEFORE_IT_IS_MADE, 22L,
            Sabotage.FREE_WHAT_A_READER_HAS_PINNED, 33L,
            Sabotage.FLUSH_WHILE_ANOTHER_FLUSHES, 12L,
            Sabotage.NEVER_NOTICE_THAT_THERE_IS_SPACE_AGAIN, 91L);

    @TempDir
    Path directory;

    /** Checks one sabotage in every build, because few cuts suffice to detect it. */
    @Test
    void detectsAcknowledgmentBeforeFsync() throws Exception {
        assertCaught(Sabotage.ACKNOWLEDGE_BEFORE_THE_FORCE);
    }

    @ParameterizedTest
    @EnumSource(Sabotage.class)
    void editsApplyToSource(Sabotage sabotage) throws IOException {
        assertThat(SabotagedBuild.sources(Path.of(""), sabotage.edits())).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource(Sabotage.class)
    @Tag("thorough")
    void detectsSabotage(Sabotage sabotage) throws Exception {
        assertCaught(sabotage);
    }

    private void assertCaught(Sabotage sabotage) throws Exception {
        long firstSeed = FIRST_SEEDS.getOrDefault(sabotage, SEED);
        Object report = simulate(SabotagedBuild.of(sabotage.edits(), directory), firstSeed, CUTS);
        Object failure = call(report, "failure");
        assertThat(failure).as("after %s cuts", call(report, "cuts")).isNotNull();
        Throwable problem = (Throwable) call(failure, "problem");
        System.out.println("caught after " + call(report, "cuts") + " cuts, with seed " + call(failure, "seed") + ": "
                + sabotage.description() + " ("
                + problem.getMessage().lines().findFirst().orElse("") + ")");
    }

    /** Checks that the simulator reports no failure for an unmodified build compiled like the sabotaged ones. */
    @Test
    @Tag("thorough")
    void unmodifiedBuildReportsNoFailure() throws Exception {
        Object report = simulate(SabotagedBuild.of(List.of(), directory), SEED, CUTS_OF_AN_HONEST_BUILD);
        assertThat(call(report, "failure")).isNull();
    }

    @Test
    void testingPageListsEverySabotage() throws IOException {
        String page = Files.readString(Path.of("../docs/internals/testing.md"));
        for (Sabotage sabotage : Sabotage.values()) {
            assertThat(page).contains("| " + sabotage.description() + " |");
        }
    }

    private static Object simulate(SabotagedBuild build, long firstSeed, long cuts) throws Exception {
        int threads = Runtime.getRuntime().availableProcessors();
        LongConsumer noListener = done -> {};
        return build.loadClass(Simulator.class.getName())
                .getMethod("run", long.class, long.class, Duration.class, int.class, LongConsumer.class)
                .invoke(null, firstSeed, cuts, Duration.ofMinutes(15), threads, noListener);
    }

    private static Object call(Object record, String component) throws Exception {
        return record.getClass().getMethod(component).invoke(record);
    }
}
