package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.concurrent.ExecutionException;

/** Opens a cleanly closed store of JSON documents. */
record OpenedDocuments(String name, int documents) implements Work {
    private static final double NANOS_PER_SECOND = 1e9;

    @Override
    public Measurement run(Turn turn, Durability level) throws IOException, InterruptedException, ExecutionException {
        try (FreshStore fresh = new FreshStore(turn, level)) {
            fresh.fill(documents);
            fresh.store().close();
            long start = System.nanoTime();
            fresh.reopen();
            return new Measurement().with(Figure.SECONDS, (System.nanoTime() - start) / NANOS_PER_SECOND);
        }
    }
}
