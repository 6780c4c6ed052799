package io.caravan.bench.network;

import java.io.IOException;

/** Reads a whole document as fast as it arrives, and discards it. */
@FunctionalInterface
interface Drain {
    /**
     * Reads the document once.
     *
     * @return total length of the received values
     */
    long read(RunningServer server) throws IOException, InterruptedException;
}
