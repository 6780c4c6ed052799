package io.caravan.bench.gate;

import java.io.IOException;

/** Measures one ratio, again and again. */
interface Probe extends AutoCloseable {
    /** The ratio, measured once: some tenths of a second at most on a quiet machine. */
    double round() throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
