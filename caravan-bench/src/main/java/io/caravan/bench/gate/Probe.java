package io.caravan.bench.gate;

import java.io.IOException;

/** Measures one ratio repeatedly. */
interface Probe extends AutoCloseable {
    /** Measures the ratio once. Takes at most a few tenths of a second on a quiet machine. */
    double round() throws IOException, InterruptedException;

    @Override
    default void close() throws IOException {}
}
