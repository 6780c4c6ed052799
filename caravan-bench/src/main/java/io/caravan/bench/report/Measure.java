package io.caravan.bench.report;

import java.io.IOException;
import java.util.List;

/** One part of a benchmark: runs the same workload on several systems in turn and keeps the results. */
public interface Measure {
    /** Measures every system once. */
    void run(Turn turn) throws IOException, InterruptedException;

    /** Returns the table of the results so far. */
    Table table();

    /** Returns the pictures of the results so far. */
    default List<Picture> pictures() {
        return List.of();
    }
}
