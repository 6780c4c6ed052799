package io.caravan.testing.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulator catches every sabotage, so that its silence means something; prints in how many cuts. */
class SabotageTest {
    private static final long CUTS = 60_000;

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(Sabotage.class)
    void isCaught(Sabotage sabotage) throws Exception {
        Class<?> simulator = SabotagedBuild.of(sabotage, folder).loadClass(Simulator.class.getName());
        Object report = simulator
                .getMethod("run", long.class, long.class, int.class, LongConsumer.class)
                .invoke(null, 1, CUTS, Runtime.getRuntime().availableProcessors(), (LongConsumer) done -> {});
        Object failure = report.getClass().getMethod("failure").invoke(report);
        Object cuts = report.getClass().getMethod("cuts").invoke(report);
        assertThat(failure).as("after %s cuts", cuts).isNotNull();
        Throwable problem = (Throwable) failure.getClass().getMethod("problem").invoke(failure);
        System.out.println("caught after " + cuts + " cuts: " + sabotage.description() + " ("
                + problem.getMessage().lines().findFirst().orElse("") + ")");
    }
}
