package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;

/** Work that posts give figures of, as it is done on Caravan. */
interface Work {
    /** Time that one thing takes. */
    Figure MICROS_EACH = new Figure("us each", "%,.3f");

    /** What is done, for people. */
    String name();

    /** At the level asked for, on files that are gone when it returns; has the figures of all its headlines. */
    Measurement run(Turn turn, Durability level) throws IOException, InterruptedException, ExecutionException;

    /**
     * Work, and what it is compared with.
     *
     * @param levels at which it is done: what comes nearest to the headlines' own first, then {@code SYNC} if that was less
     * @param differs what is not the same as in the post, in a sentence
     */
    record Compared(Work work, List<Durability> levels, List<Headline> headlines, String differs) {}
}
