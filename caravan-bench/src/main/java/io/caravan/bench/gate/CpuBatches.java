package io.caravan.bench.gate;

import java.util.function.IntConsumer;

/**
 * Times actions that are too short to time singly: takes the median of batches, in processor time of the calling
 * thread.
 */
final class CpuBatches {
    private CpuBatches() {}

    /**
     * Returns the nanoseconds of one action.
     *
     * @param batches number of batches
     * @param size actions in a batch
     * @param action receives its number, from 0
     */
    static double medianNanos(int batches, int size, IntConsumer action) {
        long[] nanos = new long[batches];
        int number = 0;
        for (int batch = 0; batch < batches; batch++) {
            long start = ThreadCosts.cpuNanos();
            for (int i = 0; i < size; i++) {
                action.accept(number++);
            }
            nanos[batch] = ThreadCosts.cpuNanos() - start;
        }
        return Median.of(nanos) / size;
    }
}
