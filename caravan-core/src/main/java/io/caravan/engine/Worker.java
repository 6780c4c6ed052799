package io.caravan.engine;

/**
 * Runs a step repeatedly. Between two runs, the worker waits for the time that the step returned, or until it is woken.
 * All work is in the step, so the {@link Scheduler} implementation decides when each worker runs.
 */
public interface Worker {
    /** The value that a step returns if it has no work until the worker is woken. */
    long UNTIL_WOKEN = Long.MAX_VALUE;

    @FunctionalInterface
    interface Step {
        /**
         * Performs the worker's pending work. Returns the time, in nanoseconds, until the step must run again; 0 for
         * immediately.
         */
        long run();
    }

    void start();

    /** Requests a run of the step. If the step is running now, it runs once more. May be called on any thread. */
    void wake();

    /** Waits until no step is running. No further step will run. */
    void stop();
}
