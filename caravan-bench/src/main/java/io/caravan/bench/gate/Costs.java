package io.caravan.bench.gate;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.function.IntConsumer;
import javax.management.JMException;
import javax.management.ObjectName;

/** Measures the processor time and memory that the calling thread uses, and computes medians of such samples. */
final class Costs {
    private static final String[] LONG = {"long"};

    private Costs() {}

    /** Returns the median. If the number of samples is even, this is the upper of the two middle samples. */
    static double median(double... samples) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /**
     * Returns the processor time of one action in the median batch, in nanoseconds. A single action is too short to
     * time.
     *
     * @param batches number of batches
     * @param size number of actions in a batch
     * @param action the action, which receives its number, counted from 0
     */
    static double cpuNanos(int batches, int size, IntConsumer action) {
        double[] nanos = new double[batches];
        int number = 0;
        for (int batch = 0; batch < batches; batch++) {
            long start = cpuNanos();
            for (int i = 0; i < size; i++) {
                action.accept(number++);
            }
            nanos[batch] = cpuNanos() - start;
        }
        return median(nanos) / size;
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /**
     * Returns the number of bytes that the calling thread has allocated so far; the call itself allocates some memory.
     * The number is read through JMX, because no standard Java type declares it.
     */
    static long allocatedBytes() {
        Object[] thread = {Thread.currentThread().getId()};
        try {
            return (long) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME),
                            "getThreadAllocatedBytes",
                            thread,
                            LONG);
        } catch (JMException untold) {
            throw new UnsupportedOperationException(
                    "this JVM does not report what a thread allocates; run the gate on another", untold);
        }
    }
}
