package io.caravan.bench.network;

import io.caravan.bench.report.Measure;
import java.util.Locale;

/** The parts that can be measured, in order. */
enum Part {
    REDIS(RespRates::new),
    HTTP(HttpRates::new);

    private final Maker maker;

    Part(Maker maker) {
        this.maker = maker;
    }

    private interface Maker {
        Measure make(boolean quick, boolean alone);
    }

    /**
     * Creates the measure.
     *
     * @param quick whether the measure only has to show that it works
     * @param alone whether Caravan is measured without its peers
     */
    Measure measure(boolean quick, boolean alone) {
        return maker.make(quick, alone);
    }

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
