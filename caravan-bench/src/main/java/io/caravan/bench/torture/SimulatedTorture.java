package io.caravan.bench.torture;

import io.caravan.bench.ProgressLine;
import io.caravan.testing.simulator.Simulator;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/**
 * Simulates power failures of stores, thousands per second and reproducible, instead of killing processes.
 *
 * @param time time limit after which the run ends even with fewer cuts
 */
record SimulatedTorture(long seed, long cuts, Duration time, PrintStream out) {
    /** Runs the simulations; returns whether nothing was lost. */
    boolean run() throws InterruptedException, IOException {
        int threads = Runtime.getRuntime().availableProcessors();
        out.println("seed " + seed + ", " + threads + " threads");
        ProgressLine progress = new ProgressLine(System.err);
        long start = System.nanoTime();
        Simulator.Report report = Simulator.run(seed, cuts, time, threads, done -> {
            synchronized (progress) {
                progress.show(
                        () -> done + " cuts, " + Math.round(done / ((System.nanoTime() - start) / 1e9)) + " a second");
            }
        });
        progress.clear();
        Simulator.Failure failure = report.failure();
        if (failure != null) {
            tell(failure);
        }
        out.printf(
                Locale.ROOT,
                "%,d cuts in %,d simulations (seeds %d to %d), %,.0f a second; %s%n",
                report.cuts(),
                report.simulations(),
                seed,
                seed + report.simulations() - 1,
                report.cutsPerSecond(),
                failure == null ? "nothing was lost" : "FAILED");
        return failure == null;
    }

    private void tell(Simulator.Failure failure) throws IOException {
        Path story = Files.createTempFile("caravan-simulation-" + failure.seed() + "-", ".txt");
        Files.write(story, failure.story());
        out.println(failure.storysEnd());
        out.println("seed " + failure.seed() + ": " + failure.problem().getMessage());
        out.println("The full history is in " + story + "; reproduce the failure with --simulate --cuts "
                + (failure.cuts() + 1) + " --seed " + failure.seed());
    }
}
