package io.caravan.server.cli.document;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "ls",
        description = "Prints the names of the documents that the user may read, in no particular order. In a"
                + " cluster with several Raft groups, lists the documents of all groups. Documents that are created"
                + " or deleted while the command runs may be missing. A name may contain line feeds: scripts that"
                + " must tell names apart use --json, which prints one name on each line.",
        footer = {"  caravan ls", "  caravan ls --match 'letters/*' | head -20", "  caravan ls --json"})
public final class ListCommand extends ClientCommand implements ReadOnly {
    @Option(
            names = "--match",
            paramLabel = "GLOB",
            description = "Only names that match this pattern: * stands for any characters, ? for one character, and"
                    + " [a-z] for one character of a range. Quote the pattern; otherwise, the shell expands it.")
    private @Nullable String glob;

    @Override
    protected void run(Output output) throws IOException {
        try (DocumentClient documents = DocumentClient.ofAllGroups(server())) {
            documents.scan(bytes(Objects.requireNonNullElse(glob, "*")), names -> {
                for (byte[] name : names) {
                    print(name, output);
                }
            });
        }
    }

    private void print(byte[] name, Output output) throws IOException {
        if (json()) {
            output.object(Output.textOrBase64("name", "base64", name));
        } else {
            output.line(name);
        }
    }
}
