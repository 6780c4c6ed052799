package io.caravan.bench.network;

import io.caravan.bench.report.Table;
import java.io.IOException;

/** One part of the benchmark: does the same to several systems in turn, and keeps what came out. */
interface NetworkMeasure {
    /** Measures every system once. */
    void run(Stage stage) throws IOException, InterruptedException;

    /** What has been measured so far. */
    Table table();
}
