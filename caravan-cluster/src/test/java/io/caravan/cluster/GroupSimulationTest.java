package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.simulator.SimulationFailure;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Simulations of three replicas on a model of Raft, with power cuts and an unreliable network. */
final class GroupSimulationTest {
    /** The number of simulations. Each has about 500 power cuts and kills. */
    private static final int SIMULATIONS = Integer.getInteger("caravan.simulations", Rounds.of(5, 200));

    /** The maximum number of additional simulations to run until each kind of event has occurred. */
    private static final int MORE_SIMULATIONS = 50;

    /** The first seed with which the simulation tries to detect each {@link SimulatedGroup.Lie}. */
    private static final long FIRST_SEED_TO_CATCH_A_LIE = 9;

    private static final int SEEDS_TO_CATCH_A_LIE = 50;

    @Test
    @Tag("rounds")
    void acknowledgedAndSeenValuesReachAllNodes() {
        long[] sums = new long[6];
        Seeds.forEach(SIMULATIONS, seed -> simulate(seed, sums));
        // In a few simulations, the node that accepts large values may never have led.
        for (int more = 0; more < MORE_SIMULATIONS && Arrays.stream(sums).anyMatch(sum -> sum == 0); more++) {
            Seeds.forEach(1, seed -> simulate(seed, sums));
        }
        System.out.printf(
                "%,d acknowledged, %,d values seen, %,d cuts, %,d times of all nodes, %,d elections, %,d values that"
                        + " are larger than the buffers of others%n",
                sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]);
        assertThat(sums).doesNotContain(0);
    }

    private static void simulate(long seed, long[] sums) {
        SimulatedGroup.Report report = new SimulatedGroup(seed, SimulatedGroup.Lie.NONE).run();
        sums[0] += report.acknowledged();
        sums[1] += report.seen();
        sums[2] += report.cuts();
        sums[3] += report.blackouts();
        sums[4] += report.terms();
        sums[5] += report.larges();
    }

    @Test
    @Tag("thorough")
    void sameSeedProducesSameReport() {
        Seeds.forEach(
                1,
                seed -> assertThat(new SimulatedGroup(seed, SimulatedGroup.Lie.NONE).run())
                        .isEqualTo(new SimulatedGroup(seed, SimulatedGroup.Lie.NONE).run()));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void detectsInjectedFault(SimulatedGroup.Lie lie) {
        for (long seed = FIRST_SEED_TO_CATCH_A_LIE; seed < FIRST_SEED_TO_CATCH_A_LIE + SEEDS_TO_CATCH_A_LIE; seed++) {
            try {
                new SimulatedGroup(seed, lie).run();
            } catch (SimulationFailure noticed) {
                System.out.println(lie + " is noticed with seed " + seed + ": "
                        + noticed.getMessage().lines().findFirst().orElseThrow());
                return;
            }
        }
        throw new AssertionError(lie + " is not noticed with " + SEEDS_TO_CATCH_A_LIE + " seeds");
    }
}
