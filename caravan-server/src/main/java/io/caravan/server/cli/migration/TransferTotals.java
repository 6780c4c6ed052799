package io.caravan.server.cli.migration;

import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.migration.Importer.Outcome;
import io.caravan.server.cli.migration.Importer.Upload;
import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;

/** Counts transferred documents and, in an import, all outcomes. Not thread-safe. */
final class TransferTotals implements Importer.Listener {
    private final Consumer<String> messages;
    private final long[] outcomes = new long[Outcome.values().length];
    private long documents;
    private long values;
    private long bytes;

    /** Creates an instance that reports the reason for each rejection as a message. */
    TransferTotals(Consumer<String> messages) {
        this.messages = messages;
    }

    void add(DocumentChecksum sum) {
        documents++;
        values += sum.count();
        bytes += sum.bytes();
    }

    @Override
    public void settled(Upload document, Outcome outcome, String why) {
        if (outcome == Outcome.REJECTED) {
            reject(why);
        } else {
            count(outcome);
        }
        if (outcome == Outcome.SENT) {
            add(document.sum());
        }
    }

    void count(Outcome outcome) {
        outcomes[outcome.ordinal()]++;
    }

    void reject(String why) {
        count(Outcome.REJECTED);
        messages.accept(why);
    }

    void reset(Outcome outcome) {
        outcomes[outcome.ordinal()] = 0;
    }

    long number(Outcome outcome) {
        return outcomes[outcome.ordinal()];
    }

    long documents() {
        return documents;
    }

    /** Prints the totals and all outcomes, for example {@code copied 2 documents, 5 values, 71 B; 1 rejected}. */
    void print(Output output, String done, String thing) throws IOException {
        output.print(done + " " + transferred(thing) + others(), Output.fields(fields(), otherFields()));
    }

    /** Formats the totals of the transferred documents, for example {@code 2 documents, 5 values, 71 B}. */
    String transferred(String thing) {
        return Figures.count(documents, thing) + ", " + Figures.count(values, "value") + ", " + Figures.size(bytes);
    }

    /** Formats the counts of the other outcomes, for example {@code ; 1 skipped}. */
    String others() {
        return some(number(Outcome.ALREADY), "were there already")
                + some(number(Outcome.DIFFERENT), "skipped")
                + some(number(Outcome.EXPIRED), "had expired")
                + some(number(Outcome.REJECTED), "rejected");
    }

    static String some(long count, String what) {
        return count == 0 ? "" : "; " + count + " " + what;
    }

    Map<String, ?> fields() {
        return Output.fields("documents", documents, "values", values, "bytes", bytes);
    }

    Map<String, ?> otherFields() {
        return Output.fields(
                "already", number(Outcome.ALREADY),
                "skipped", number(Outcome.DIFFERENT),
                "expired", number(Outcome.EXPIRED),
                "rejected", number(Outcome.REJECTED));
    }
}
