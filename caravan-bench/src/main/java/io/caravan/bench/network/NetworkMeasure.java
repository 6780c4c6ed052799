package io.caravan.bench.network;

import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;

/** One part of the benchmark: runs the same workload on several systems in turn and keeps the results. */
interface NetworkMeasure {
    /** Measures every system once. */
    void run(Stage stage) throws IOException, InterruptedException;

    /** The table of the results so far. */
    Table table();

    /** Adapts this to {@link Measure}; {@code alone} is {@link Stage#alone}. */
    default Measure on(boolean alone) {
        NetworkMeasure measure = this;
        return new Measure() {
            @Override
            public void run(Turn turn) throws IOException, InterruptedException {
                measure.run(new Stage(turn, alone));
            }

            @Override
            public Table table() {
                return measure.table();
            }
        };
    }
}
