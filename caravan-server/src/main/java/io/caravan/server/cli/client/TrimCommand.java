package io.caravan.server.cli.client;

import io.caravan.server.cli.client.Documents.Document;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Trims a document's oldest values. */
@Command(
        name = "trim",
        description = "Drops the oldest values of a document, and prints the first sequence that it retains then. The"
                + " other values keep their sequences, and the next sequence does not change.",
        footer = {"  caravan trim letters/1 --to 1000", "  caravan trim logs/today --keep 100000"})
final class TrimCommand extends ClientCommand {
    @Parameters(paramLabel = "NAME", description = "The document.")
    private String name;

    @ArgGroup(multiplicity = "1")
    private Extent extent;

    /** The options that select the values to trim. */
    static final class Extent {
        @Option(
                names = "--to",
                paramLabel = "SEQUENCE",
                description = "Drop the values before this sequence; all of them if it is after the last one.")
        private @Nullable Long to;

        @Option(names = "--keep", paramLabel = "N", description = "Drop all but the N newest values.")
        private @Nullable Long keep;
    }

    @Override
    protected void run(Output output) throws IOException {
        long to = atLeast(0, extent.to, "--to", 0);
        long keep = atLeast(0, extent.keep, "--keep", 0);
        try (Documents documents = documents()) {
            long first = documents
                    .trim(bytes(name), extent.to != null ? to : allBut(keep, documents))
                    .orElseThrow(() -> ClientException.missing(name));
            print(output, "first " + first, fields -> fields.writeNumberField("first", first));
        }
    }

    private long allBut(long keep, Documents documents) {
        Document document = documents.find(bytes(name));
        if (document == null) {
            throw ClientException.missing(name);
        }
        return Math.max(0, document.next() - keep);
    }
}
