package io.caravan.bench.gate;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.function.IntConsumer;
import javax.management.JMException;
import javax.management.ObjectName;

/** Processor time and memory that the calling thread uses, and medians of such samples. */
final class Costs {
    private static final String[] LONG = {"long"};

    private Costs() {}

    /** The upper of the two middle samples when their number is even. */
    static double median(double... samples) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /**
     * Times actions that are too short to time singly: the processor time of one, in nanoseconds, by the median batch.
     *
     * @param batches number of batches
     * @param size actions in a batch
     * @param action receives its number, from 0
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
     * Memory that the thread has allocated so far, in bytes; the call itself allocates some. JVMs expose it by name, not
     * through a standard Java type.
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
