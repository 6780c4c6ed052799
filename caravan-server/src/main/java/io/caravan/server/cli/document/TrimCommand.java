package io.caravan.server.cli.document;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "trim",
        description = "Trims the oldest values of a document, and prints the first sequence that it retains. The"
                + " sequences of the other values do not change.",
        footer = {"  caravan trim letters/1 --to 1000", "  caravan trim logs/today --keep 100000"})
public final class TrimCommand extends ClientCommand {
    @Parameters(paramLabel = "NAME", converter = NameConverter.class, description = "The document.")
    private String name;

    @ArgGroup(multiplicity = "1")
    private Extent extent;

    static final class Extent {
        @Option(
                names = "--to",
                paramLabel = "SEQUENCE",
                description = "Trim the values before this sequence; all values, if it is after the last one.")
        private @Nullable Long to;

        @Option(names = "--keep", paramLabel = "N", description = "Trim all values except the newest N.")
        private @Nullable Long keep;
    }

    @Override
    protected void run(Output output) throws IOException {
        long to = atLeast(0, extent.to, "--to", 0);
        long keep = atLeast(0, extent.keep, "--keep", 0);
        try (DocumentClient documents = documents()) {
            long first = documents
                    .trim(bytes(name), extent.to != null ? to : allBut(keep, documents))
                    .orElseThrow(() -> ClientException.missing(name));
            output.print("first " + first, Map.of("first", first));
        }
    }

    private long allBut(long keep, DocumentClient documents) {
        Description document = documents.find(bytes(name));
        if (document == null) {
            throw ClientException.missing(name);
        }
        return Math.max(0, document.next() - keep);
    }
}
