package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.VerifyReport;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.concurrent.ExecutionException;

/** Verifies a closed store of JSON documents from each of its checkpoints. */
record VerifiedDocuments(String name, int documents) implements Work {
    private static final double NANOS_PER_SECOND = 1e9;

    @Override
    public Measurement run(Turn turn, Durability level) throws IOException, InterruptedException, ExecutionException {
        try (FreshStore fresh = new FreshStore(turn, level)) {
            fresh.fill(documents);
            fresh.store().close();
            long start = System.nanoTime();
            VerifyReport report = DurableListStore.verify(fresh.path(), (step, done, total) -> {});
            double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
            if (!report.clean()) {
                throw new IOException("the store to verify is damaged: " + report);
            }
            return new Measurement().with(Figure.SECONDS, seconds);
        }
    }
}
