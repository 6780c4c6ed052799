package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;

/** A workload from a post, run on Caravan. */
interface Work {
    /** Time of one operation. */
    Figure MICROS_EACH = new Figure("us each", "%,.3f");

    /** A description for people. */
    String name();

    /**
     * Runs at the given level, on files that are deleted before it returns. The result contains the figures of all its
     * headlines.
     */
    Measurement run(Turn turn, Durability level) throws IOException, InterruptedException, ExecutionException;

    /**
     * Work and the headlines that it is compared with.
     *
     * @param levels durability levels to run at: the one nearest to the headlines' first, then {@code SYNC} if that is
     *     stronger
     * @param differs how it differs from the post, in a sentence
     */
    record Compared(Work work, List<Durability> levels, List<Headline> headlines, String differs) {}
}
