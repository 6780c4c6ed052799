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

@Command(
        name = "archive",
        description = {
            "With NAME, a running server archives this document now, if it has changed since it was archived. The"
                    + " command prints the generation in the archive and its sequences. A server also archives"
                    + " automatically, see 'caravan serve --help'.",
            "The subcommands need no server: they list an archive, verify it, and remove old data from it. If a"
                    + " document has the name of a subcommand, write -- before the name."
        },
        subcommands = {ArchiveListCommand.class, ArchiveVerifyCommand.class, ArchivePruneCommand.class},
        footer = {"  caravan archive letters/1", "  caravan archive letters/1 --output json"})
public final class ArchiveCommand extends ClientCommand {
    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document, for a running server to archive.")
    private @Nullable String name;

    @Override
    protected void run(Output output) throws IOException {
        String wanted = given(name, "give NAME for a running server to archive, or a subcommand: ls, verify or prune");
        try (ServerConnection connection = connect()) {
            Map<String, ?> archived = connection.callLongRunning("CARAVAN.ARCHIVE", wanted);
            String line = "generation " + archived.get("generation") + ", first " + archived.get("first") + ", next "
                    + archived.get("next")
                    + (Boolean.TRUE.equals(archived.get("uploaded")) ? "" : ", unchanged");
            archived.keySet().retainAll(List.of("generation", "first", "next", "uploaded"));
            print(output, line, archived);
        }
    }
}
