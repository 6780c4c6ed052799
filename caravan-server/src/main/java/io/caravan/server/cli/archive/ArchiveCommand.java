package io.caravan.server.cli.archive;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Makes a running server archive a document. The subcommands work on an archive without a server. */
@Command(
        name = "archive",
        description = {
            "With NAME, a running server archives this document now, if it has changed since it was archived, and tells"
                    + " which generation it is in the archive, and its sequences. A server archives by itself too, see"
                    + " 'caravan serve --help'.",
            "The commands below need no server: they look into an archive, verify it, and remove from it what is not"
                    + " needed any more. A document that has the name of one of them comes after --."
        },
        subcommands = {ArchiveListCommand.class, ArchiveVerifyCommand.class, ArchivePruneCommand.class},
        footer = {"  caravan archive letters/1", "  caravan archive letters/1 --output json"})
public final class ArchiveCommand extends ClientCommand {
    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document, for a running server to archive.")
    private @Nullable String name;

    @Override
    protected void run(Output output) throws IOException {
        String wanted = given(
                name,
                "give NAME for a running server to archive, or say what to do with an archive: ls, verify or prune");
        try (ServerConnection connection = connect()) {
            Map<String, ?> archived = connection.callLongRunning("CARAVAN.ARCHIVE", wanted);
            String line = "generation " + archived.get("generation") + ", first " + archived.get("first") + ", next "
                    + archived.get("next")
                    + (Boolean.TRUE.equals(archived.get("uploaded")) ? "" : ", as it was already");
            print(output, line, fields -> {
                for (String name : List.of("generation", "first", "next", "uploaded")) {
                    fields.writeObjectField(name, archived.get(name));
                }
            });
        }
    }
}
