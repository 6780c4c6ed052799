package io.caravan.bench.seeds;

import io.caravan.bench.report.Figure;

/**
 * A figure that a post gives.
 *
 * @param workload what it is about, beginning with the post's subject
 * @param label the same in a few words, for a picture
 * @param system that it was measured on, as a row names it
 * @param durability what had happened to a write there when it counted
 */
record Headline(
        String workload, String label, String system, String durability, Figure figure, double value, Better better) {

    /** Which figures are the good ones. */
    enum Better {
        MORE,
        LESS
    }

    /** How many times as good as the headline a figure is: above 1 when it is better. */
    double ratio(double measured) {
        return better == Better.MORE ? measured / value : value / measured;
    }
}
