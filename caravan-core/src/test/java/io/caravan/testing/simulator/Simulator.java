package io.caravan.testing.simulator;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs simulations, each with its own seed, until there have been enough cuts or a simulation fails. Several
 * simulations run at a time, each on one thread.
 *
 * <p>Modeled on the simulators of FoundationDB and TigerBeetle: the simulator controls all I/O, time, and threads of
 * the system, so a seed reproduces a failure.
 */
public final class Simulator {
    private final long cuts;
    private final long endNanos;
    private final int threads;
    private final LongConsumer progress;
    private final AtomicLong nextSeed;
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong simulations = new AtomicLong();
    private final AtomicReference<@Nullable Failure> failure = new AtomicReference<>();

    /**
     * The failure of a simulation.
     *
     * @param seed the seed that reproduces the failure
     * @param cuts the number of cuts that the simulation had made by then
     * @param story the operations, the I/O calls, and the effects of each cut
     */
    public record Failure(long seed, long cuts, SimulationFailure problem, List<String> story) {
        private static final int SHOWN_LINES = 60;

        /** Returns the last lines of the story, for output on a terminal. */
        public String storysEnd() {
            return String.join("\n", story.subList(Math.max(0, story.size() - SHOWN_LINES), story.size()));
        }
    }

    /**
     * The result of many simulations.
     *
     * @param cuts the number of checked cuts, including those of a failed simulation
     * @param simulations the number of seeds used
     */
    public record Report(
            long cuts,
            long simulations,
            Duration elapsed,
            @Nullable Failure failure) {
        public double cutsPerSecond() {
            return cuts / (elapsed.toNanos() / 1e9);
        }
    }

    private Simulator(long firstSeed, long cuts, Duration time, int threads, LongConsumer progress) {
        this.endNanos = System.nanoTime() + time.toNanos();
        this.nextSeed = new AtomicLong(firstSeed);
        this.cuts = cuts;
        this.threads = threads;
        this.progress = progress;
    }

    /**
     * Runs simulations until there have been this many cuts, the time is up, or a simulation fails.
     *
     * @param progress receives the number of cuts so far, on any of the threads
     */
    public static Report run(long firstSeed, long cuts, Duration time, int threads, LongConsumer progress)
            throws InterruptedException {
        return new Simulator(firstSeed, cuts, time, threads, progress).run();
    }

    private Report run() throws InterruptedException {
        long start = System.nanoTime();
        Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Thread(this::simulateOn, "simulator-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
        return new Report(done.get(), simulations.get(), elapsed, failure.get());
    }

    private void simulateOn() {
        while (done.get() < cuts && System.nanoTime() - endNanos < 0 && failure.get() == null) {
            simulate(nextSeed.getAndIncrement());
        }
    }

    private void simulate(long seed) {
        Simulation simulation = new Simulation(seed, false);
        try {
            simulation.run(cuts - done.get());
        } catch (RuntimeException | Error problem) {
            Failure first = new Failure(seed, simulation.cuts(), failureOf(problem), List.of());
            if (failure.compareAndSet(null, first)) {
                failure.set(repeated(first));
            }
        }
        simulations.incrementAndGet();
        progress.accept(done.addAndGet(simulation.cuts()));
    }

    private static SimulationFailure failureOf(Throwable problem) {
        return problem instanceof SimulationFailure failure
                ? failure
                : new SimulationFailure("the store broke", problem);
    }

    /** Repeats a failed simulation and records its story. */
    private static Failure repeated(Failure first) {
        Simulation simulation = new Simulation(first.seed(), true);
        try {
            simulation.run(Long.MAX_VALUE);
        } catch (RuntimeException | Error problem) {
            return new Failure(
                    first.seed(),
                    first.cuts(),
                    failureOf(problem),
                    simulation.story().lines());
        }
        return new Failure(
                first.seed(),
                first.cuts(),
                new SimulationFailure("failed once and not again, so something is not simulated", first.problem()),
                List.of());
    }
}
