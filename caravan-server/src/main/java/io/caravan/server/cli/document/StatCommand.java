package io.caravan.server.cli.document;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "stat",
        description = {
            "Prints statistics of a document: its sequences, the number and the size of its values, its content"
                    + " type, whether it is closed, and when it expires.",
            "Without NAME, prints the most important statistics of the server, with rates over one second: its"
                    + " store, documents and values, log, heap, disk, JVM heap, archive, and role in a cluster."
                    + " Statistics that the user may not see are omitted. As JSON, the statistics are an object with"
                    + " one field for each section, with all statistics."
        },
        footer = {"  caravan stat", "  caravan stat --all", "  caravan stat letters/1 --json"})
public final class StatCommand extends ClientCommand implements ReadOnly {
    private static final long RATE_MILLIS = 1_000;

    @Parameters(paramLabel = "NAME", converter = NameConverter.class, arity = "0..1", description = "The document.")
    private @Nullable String name;

    @Option(
            names = "--all",
            description = "Print all statistics of the server, section by section, as INFO returns them.")
    private boolean all;

    @Override
    protected void run(Output output) throws IOException {
        check(name == null || !all, "NAME and --all exclude each other");
        try (DocumentClient documents = documents()) {
            if (name == null) {
                printServer(documents.connection(), output);
            } else {
                printDocument(name, documents.info(bytes(name)), output);
            }
        }
    }

    private void printDocument(String wanted, @Nullable Map<String, @Nullable Object> info, Output output)
            throws IOException {
        if (info == null) {
            throw ClientException.missing(wanted);
        }
        String text = info.entrySet().stream()
                .map(field -> field.getKey() + ": " + Objects.requireNonNullElse(field.getValue(), "none"))
                .collect(Collectors.joining("\n"));
        output.print(text, Output.fields("name", wanted, info));
    }

    private void printServer(ServerConnection server, Output output) throws IOException {
        String status = server.text("INFO");
        if (json()) {
            output.object(ServerInfo.parse(status).fields());
        } else if (all) {
            for (String line : (Iterable<String>) status.lines()::iterator) {
                output.line(line.startsWith("#") ? line : line.replaceFirst(":", ": "));
            }
        } else {
            printSummary(ServerInfo.parse(status), server, output);
        }
    }

    private static void printSummary(ServerInfo before, ServerConnection server, Output output) throws IOException {
        long startNanos = System.nanoTime();
        Retries.sleep(RATE_MILLIS);
        ServerInfo after = server.info();
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        for (String line : new ServerSummary(after).lines(before, seconds)) {
            output.line(DocumentName.printable(line));
        }
    }
}
