package io.caravan.testing.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SimulatorTest {
    private static final long CUTS = Long.getLong("cuts", 4000);

    @Test
    void nothingAcknowledgedIsLost() throws InterruptedException {
        long seed = Long.getLong("caravan.seed", System.nanoTime());
        Simulator.Report report = Simulator.run(seed, CUTS, Runtime.getRuntime().availableProcessors(), done -> {});
        if (report.failure() != null) {
            report.failure().story().forEach(System.out::println);
            throw new AssertionError(
                    "seed " + report.failure().seed() + " after " + report.cuts(),
                    report.failure().problem());
        }
        System.out.println(report.cuts() + " cuts, " + report.cutsPerSecond() + " a second, from seed " + seed);
        assertThat(report.cuts()).isGreaterThanOrEqualTo(CUTS);
    }
}
