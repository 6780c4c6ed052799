package io.caravan.server.cli.client;

import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Prints statistics of a document or of the server. */
@Command(
        name = "stat",
        description = {
            "Prints statistics of a document: its sequences, its number of values and their bytes, its content type,"
                    + " and whether it is closed or will expire. Without a name, those of the server and its store.",
            "As JSON, the server's statistics are an object of sections."
        },
        footer = {"  caravan stat", "  caravan stat letters/1 --output json"})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class StatCommand extends ClientCommand {
    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document.")
    private @Nullable String name;

    StatCommand(Console console) {
        super(console);
    }

    @Override
    protected boolean onlyReads() {
        return true;
    }

    @Override
    protected void run(Output output) throws IOException {
        try (Documents documents = documents()) {
            if (name == null) {
                printServer(documents.status(), output);
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

    private void printServer(String status, Output output) throws IOException {
        if (json()) {
            output.object(ServerInfo.parse(status)::write);
            return;
        }
        for (String line : (Iterable<String>) status.lines()::iterator) {
            output.line(line.startsWith("#") ? line : line.replaceFirst(":", ": "));
        }
    }
}
