package io.caravan.bench.service;

import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * The axis of a percentile plot. The position of a percentile is N if one in N values exceeds it, so that each further
 * nine takes the same space on a logarithmic axis.
 */
final class Nines {
    private static final int POINTS_A_NINE = 20;
    private static final double ALL = 100;

    private Nines() {}

    /** Returns the positions to plot for {@code count} values: from 1 to at most {@code count}. */
    static List<Double> upTo(long count) {
        int points = (int) Math.floor(Math.log10(Math.max(1, count)) * POINTS_A_NINE);
        return IntStream.rangeClosed(0, points)
                .mapToObj(point -> Math.pow(10, (double) point / POINTS_A_NINE))
                .toList();
    }

    /** Returns the percentile at a position. */
    static double percentile(double place) {
        return ALL * (1 - 1 / place);
    }

    /** Returns the label of a position. For example, the label of 10 is 90 %. */
    static String label(double place) {
        int decimals = Math.max(0, (int) Math.round(Math.log10(place)) - 2);
        return String.format(Locale.ROOT, "%." + decimals + "f %%", percentile(place));
    }
}
