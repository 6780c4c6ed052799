package io.caravan.bench.report;

import java.io.IOException;
import java.util.List;

/** One part of a benchmark: does the same to several systems in turn, and keeps what came out. */
public interface Measure {
    /** Measures every system once. */
    void run(Turn turn) throws IOException, InterruptedException;

    /** What has been measured so far. */
    Table table();

    /** Of what has been measured so far. */
    default List<Picture> pictures() {
        return List.of();
    }
}
