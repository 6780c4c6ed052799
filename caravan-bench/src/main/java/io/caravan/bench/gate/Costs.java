package io.caravan.bench.gate;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import javax.management.JMException;
import javax.management.ObjectName;

/** Measures the processor time and the memory allocation of the calling thread, and computes medians. */
final class Costs {
    private static final String[] LONG = {"long"};

    private Costs() {}

    /** Returns the median of the samples or, if their number is even, the upper of the two middle samples. */
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
        return cost(batches, size, Costs::cpuNanos, action);
    }

    /** Returns the number of bytes that one action in the median batch allocates on the calling thread. */
    static double allocatedBytes(int batches, int size, IntConsumer action) {
        return cost(batches, size, Costs::allocatedBytes, action);
    }

    private static double cost(int batches, int size, LongSupplier meter, IntConsumer action) {
        double[] costs = new double[batches];
        int number = 0;
        for (int batch = 0; batch < batches; batch++) {
            long start = meter.getAsLong();
            for (int i = 0; i < size; i++) {
                action.accept(number++);
            }
            costs[batch] = meter.getAsLong() - start;
        }
        return median(costs) / size;
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /**
     * Returns the number of bytes that the calling thread has allocated so far; the call itself allocates some memory.
     * The number is read through JMX, because no standard Java type declares it.
     */
    private static long allocatedBytes() {
        Object[] thread = {Thread.currentThread().getId()};
        try {
            return (long) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME),
                            "getThreadAllocatedBytes",
                            thread,
                            LONG);
        } catch (JMException missing) {
            throw new UnsupportedOperationException(
                    "this JVM does not report the allocations of a thread; run the gate on another", missing);
        }
    }
}
