package io.caravan.bench.gate;

import java.util.Arrays;

/** Middles of samples. */
final class Median {
    private Median() {}

    /** The upper one of the two in the middle when their number is even. */
    static double of(double... samples) {
        double[] sorted = samples.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** Of times in nanoseconds. */
    static double of(long... nanos) {
        return of(Arrays.stream(nanos).asDoubleStream().toArray());
    }
}
