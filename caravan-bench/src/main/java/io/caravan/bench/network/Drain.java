package io.caravan.bench.network;

import java.io.IOException;

/** Reads a whole document as fast as it comes, and throws it away. */
@FunctionalInterface
interface Drain {
    /**
     * Reads it once.
     *
     * @return bytes of the values that came
     */
    long read(RunningServer server) throws IOException, InterruptedException;
}
