package io.caravan.bench.gate;

import java.util.Arrays;

/** Medians of samples. */
final class Median {
    private Median() {}

    /** The upper of the two middle samples when their number is even. */
    static double of(double... samples) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** The median of times in nanoseconds. */
    static double of(long... nanos) {
        return of(Arrays.stream(nanos).asDoubleStream().toArray());
    }
}
