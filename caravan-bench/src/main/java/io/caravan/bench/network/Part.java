package io.caravan.bench.network;

import io.caravan.bench.report.Measure;
import java.util.Locale;

/** The parts of this benchmark, in the order in which they run by default. */
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
     * Creates the part.
     *
     * @param quick whether the run only has to show that the part works
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
