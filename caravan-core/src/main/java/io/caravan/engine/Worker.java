package io.caravan.engine;

/**
 * Runs a step repeatedly. Between calls it waits as long as the step requests, or until it is woken. All its work is in
 * the step, so the {@link Scheduler} implementation decides when each worker runs.
 */
public interface Worker {
    /** The result of a step that has no work until the worker is woken. */
    long UNTIL_WOKEN = Long.MAX_VALUE;

    @FunctionalInterface
    interface Step {
        /** Performs the pending work. Returns the time in nanoseconds until more work may exist; 0 for immediately. */
        long run();
    }

    void start();

    /** Runs the step soon, and once more if it is running now. May be called on any thread. */
    void wake();

    /** Waits until no step is running. No further step will run. */
    void stop();
}
