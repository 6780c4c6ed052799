package io.caravan.bench.report;

import java.io.IOException;

/** One part of a benchmark: does the same to several systems in turn, and keeps what came out. */
public interface Measure {
    /** Measures every system once. */
    void run(Turn turn) throws IOException, InterruptedException;

    /** What has been measured so far. */
    Table table();
}
