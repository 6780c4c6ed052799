package io.caravan.bench.timers;

import java.lang.management.ManagementFactory;

/** One way to wait. */
interface Waiter extends AutoCloseable {
    /**
     * Waits, and returns how long the wait really took.
     *
     * @param nanos the requested delay
     * @return nanoseconds from the call to the end of the wait
     */
    long await(long nanos) throws InterruptedException;

    /** Processor time of all waits so far, of the calling thread and of threads that serve it, in nanoseconds. */
    default long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    @Override
    default void close() {}
}
