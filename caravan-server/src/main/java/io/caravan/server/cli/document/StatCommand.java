package io.caravan.server.cli.document;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
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
import picocli.CommandLine.Parameters;

@Command(
        name = "stat",
        description = {
            "Prints statistics of a document: its sequences, the number and the size of its values, its content"
                    + " type, whether it is closed, and when it expires.",
            "Without NAME, prints all statistics of the server that the user may see, section by section, as INFO"
                    + " returns them. As JSON, the statistics are an object with one field for each section. 'caravan"
                    + " top' prints the most important statistics, with rates."
        },
        footer = {"  caravan stat", "  caravan stat letters/1 --json"})
public final class StatCommand extends ClientCommand implements ReadOnly {
    @Parameters(paramLabel = "NAME", converter = NameConverter.class, arity = "0..1", description = "The document.")
    private @Nullable String name;

    @Override
    protected void run(Output output) throws IOException {
        try (DocumentClient documents = documents()) {
            if (name == null) {
                printServer(documents.connection(), output);
            } else {
                printDocument(name, documents.info(bytes(name)), output);
            }
        }
    }

    private static void printDocument(String wanted, @Nullable Map<String, @Nullable Object> info, Output output)
            throws IOException {
        if (info == null) {
            throw ClientException.missing(wanted);
        }
        String text = info.entrySet().stream()
                .map(field -> DocumentName.printable(
                        field.getKey() + ": " + Objects.requireNonNullElse(field.getValue(), "none")))
                .collect(Collectors.joining("\n"));
        output.print(text, Output.fields("name", wanted, info));
    }

    private void printServer(ServerConnection server, Output output) throws IOException {
        String status = server.text("INFO");
        String text = status.lines()
                .map(line -> DocumentName.printable(line.replaceFirst("^(\\w+):", "$1: ")))
                .collect(Collectors.joining("\n"));
        output.print(text.strip(), ServerInfo.parse(status).fields());
    }
}
