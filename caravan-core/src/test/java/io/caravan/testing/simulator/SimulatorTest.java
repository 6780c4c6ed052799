package io.caravan.testing.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs simulations with about a thousand power cuts. {@code scripts/torture --simulate} makes any number of cuts. */
class SimulatorTest {
    private static final long CUTS = Rounds.of(1_000, 50_000);
    private static final Duration TIME = Duration.ofMinutes(1);

    @Test
    @Tag("rounds")
    void simulatedCutsLoseNoAcknowledgedWrite() {
        Seeds.forEach(1, seed -> {
            Simulator.Report report =
                    Simulator.run(seed, CUTS, TIME, Runtime.getRuntime().availableProcessors(), done -> {});
            Simulator.Failure failure = report.failure();
            if (failure != null) {
                throw new AssertionError(
                        "seed " + failure.seed() + ": " + failure.problem().getMessage() + "\n"
                                + String.join("\n", failure.story()),
                        failure.problem());
            }
            System.out.printf("%,d cuts, %,.0f a second%n", report.cuts(), report.cutsPerSecond());
            assertThat(report.cuts() >= CUTS || report.elapsed().compareTo(TIME) >= 0)
                    .isTrue();
        });
    }

    /** Checks that a run depends only on its seed. Otherwise, failures could not be reproduced. */
    @Test
    @Tag("thorough")
    void sameSeedReproducesRun() {
        Seeds.forEach(3, seed -> {
            List<String> first = story(seed);
            List<String> again = story(seed);
            assertThat(first).isNotEmpty();
            for (int i = 0; i < Math.min(first.size(), again.size()); i++) {
                // Comparing entire stories would hide the place where they differ.
                assertThat(again.get(i))
                        .as("line %d, after %s", i, first.subList(Math.max(0, i - 20), i))
                        .isEqualTo(first.get(i));
            }
            assertThat(again).hasSameSizeAs(first);
        });
    }

    private static List<String> story(long seed) {
        Simulation simulation = new Simulation(seed, true);
        simulation.run(Long.MAX_VALUE);
        return simulation.story().lines();
    }
}
