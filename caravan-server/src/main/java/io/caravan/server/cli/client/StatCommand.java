package io.caravan.server.cli.client;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints statistics of a document or of the server. */
@Command(
        name = "stat",
        description = {
            "Prints statistics of a document: its sequences, its number of values and their bytes, its content type,"
                    + " and whether it is closed or will expire. Without a name, those of the server that matter first,"
                    + " with the rates of one second; --all prints every one.",
            "As JSON, the server's statistics are an object of sections, with all of them."
        },
        footer = {"  caravan stat", "  caravan stat --all", "  caravan stat letters/1 --output json"})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class StatCommand extends ClientCommand {
    /** The time over which rates are measured. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document.")
    private @Nullable String name;

    @Option(names = "--all", description = "Print all statistics of the server, by the names that it has for them.")
    private boolean all;

    StatCommand(Console console) {
        super(console);
    }

    @Override
    protected boolean onlyReads() {
        return true;
    }

    @Override
    protected void run(Output output) throws IOException {
        check(name == null || !all, "NAME and --all exclude each other");
        try (Documents documents = documents()) {
            if (name == null) {
                printServer(documents, output);
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
        if (json()) {
            output.object(fields -> {
                fields.writeStringField("name", wanted);
                for (Map.Entry<String, @Nullable Object> entry : info.entrySet()) {
                    fields.writeObjectField(entry.getKey(), entry.getValue());
                }
            });
            return;
        }
        for (Map.Entry<String, @Nullable Object> entry : info.entrySet()) {
            Object value = entry.getValue();
            output.line(entry.getKey() + ": " + (value == null ? "none" : value));
        }
    }

    private void printServer(Documents documents, Output output) throws IOException {
        String status = documents.status();
        if (json()) {
            output.object(ServerInfo.parse(status)::write);
        } else if (all) {
            for (String line : (Iterable<String>) status.lines()::iterator) {
                output.line(line.startsWith("#") ? line : line.replaceFirst(":", ": "));
            }
        } else {
            printSummary(ServerInfo.parse(status), documents, output);
        }
    }

    private static void printSummary(ServerInfo before, Documents documents, Output output) throws IOException {
        long startNanos = System.nanoTime();
        pause(LOOK);
        ServerInfo after = ServerInfo.parse(documents.status());
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        for (String line : new Summary(after).lines(before, seconds)) {
            output.line(DocumentName.printable(line));
        }
    }
}
