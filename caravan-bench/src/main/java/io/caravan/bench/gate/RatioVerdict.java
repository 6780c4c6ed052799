package io.caravan.bench.gate;

import io.caravan.bench.gate.Ceilings.Ceiling;
import java.util.List;

/**
 * The result for one ratio.
 *
 * @param rounds results of all rounds, in order
 */
record RatioVerdict(Ratio ratio, Ceiling ceiling, List<Double> rounds) {

    double median() {
        return at(0.5);
    }

    double min() {
        return at(0);
    }

    double max() {
        return at(1);
    }

    /** Whether the median exceeds the ceiling. */
    boolean over() {
        return median() > ceiling.most();
    }

    /** Whether the middle half of the results is on one side of the ceiling. */
    boolean settled() {
        return at(0.25) > ceiling.most() == at(0.75) > ceiling.most();
    }

    private double at(double fraction) {
        return rounds.stream()
                .sorted()
                .skip(Math.round(fraction * (rounds.size() - 1)))
                .findFirst()
                .orElse(Double.NaN);
    }
}
