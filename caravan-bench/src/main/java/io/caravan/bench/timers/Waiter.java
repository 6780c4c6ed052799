package io.caravan.bench.timers;

import java.lang.management.ManagementFactory;

/** One way to wait. */
interface Waiter extends AutoCloseable {
    /**
     * Waits, and tells how long it was until what should happen then did.
     *
     * @param nanos asked for
     * @return nanoseconds from the call to the moment at which this way of waiting ended
     */
    long await(long nanos) throws InterruptedException;

    /** Processor time that the waits took until now, of the thread that calls and of others that serve it, in nanoseconds. */
    default long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    @Override
    default void close() {}
}
