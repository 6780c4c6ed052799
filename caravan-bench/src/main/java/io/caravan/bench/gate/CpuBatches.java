package io.caravan.bench.gate;

import java.util.function.IntConsumer;

/** Times what is too short to be timed alone: in batches, of which the median counts, in processor time of the calling thread. */
final class CpuBatches {
    private CpuBatches() {}

    /**
     * Nanoseconds of one action.
     *
     * @param batches of which the median is taken
     * @param size of a batch
     * @param action is told its number, from 0 on
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
