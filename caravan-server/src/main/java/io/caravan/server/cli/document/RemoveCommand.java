package io.caravan.server.cli.document;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "rm",
        description = "Deletes documents with all their values, without confirmation, and prints the number of"
                + " deleted documents. The server deletes all existing documents in one write, or none of them. If"
                + " some documents do not exist, the command reports them and exits with 3.",
        footer = {"  caravan rm letters/1", "  caravan rm drafts/1 drafts/2 --json"})
public final class RemoveCommand extends ClientCommand {
    @Parameters(paramLabel = "NAME", converter = NameConverter.class, arity = "1..*", description = "The documents.")
    private List<String> names;

    @Override
    protected void run(Output output) throws IOException {
        try (DocumentClient documents = documents()) {
            // The reply to a deletion does not count documents whose values have all been trimmed.
            List<String> missing = names.stream()
                    .distinct()
                    .filter(name -> documents.find(bytes(name)) == null)
                    .toList();
            long deleted = names.stream().distinct().count() - missing.size();
            if (deleted > 0) {
                documents.delete(names.stream().map(ClientCommand::bytes).toList());
            }
            output.print("deleted " + deleted, Map.of("deleted", deleted));
            if (!missing.isEmpty()) {
                throw ClientException.otherState("there is no document "
                        + missing.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", ")));
            }
        }
    }
}
