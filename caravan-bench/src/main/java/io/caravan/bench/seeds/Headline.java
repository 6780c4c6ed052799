package io.caravan.bench.seeds;

import io.caravan.bench.report.Figure;

/**
 * A figure from a post.
 *
 * @param workload the workload, starting with the post's subject
 * @param label a short form of it, for a picture
 * @param system the measured system, as named in a row
 * @param durability what was guaranteed of a write when it was counted
 */
record Headline(
        String workload, String label, String system, String durability, Figure figure, double value, Better better) {

    /** Whether higher or lower figures are better. */
    enum Better {
        MORE,
        LESS
    }

    /** How many times better than the headline a figure is: above 1 when it is better. */
    double ratio(double measured) {
        return better == Better.MORE ? measured / value : value / measured;
    }
}
