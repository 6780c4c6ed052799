package io.caravan.engine;

/**
 * Runs a step again and again, and in between waits as long as the step says, or until it is woken. All of a step's
 * work is in the step, so that whoever provides the {@link Threading} decides what runs when.
 */
public interface Worker {
    /** What a step returns when it has nothing to do until it is woken. */
    long UNTIL_WOKEN = Long.MAX_VALUE;

    /** One unit of work. */
    @FunctionalInterface
    interface Step {
        /** Does what there is to do; returns the nanoseconds until there may be more, 0 for at once. */
        long run();
    }

    /** Runs the first step, and then goes on. */
    void start();

    /** Makes the worker run its step soon, also when it is in the middle of one. From any thread. */
    void wake();

    /** Returns when no step is under way and none will come. */
    void stop();
}
