package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.common.CliCommand;
import java.io.IOException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The base class of all commands for a running server. */
@Command(
        exitCodeList = {
            "0:success",
            "1:failure, for example because a server, a permission, space, or a file is missing",
            "2:usage error",
            "3:the document is not as expected (missing, at another sequence, trimmed, or closed), or its space rejects"
                    + " the write"
        })
public abstract class ClientCommand extends CliCommand {
    @Mixin
    private Format format;

    @Mixin
    protected ConnectionOptions connectionOptions;

    protected final Endpoint server() throws IOException {
        return connectionOptions.server();
    }

    protected final ServerConnection connect() throws IOException {
        return server().connect();
    }

    /** An action that runs on the leader of each Raft group of a cluster. */
    protected interface InGroup {
        void run(ServerConnection leader) throws IOException;
    }

    /**
     * Runs an action on each of the {@link Endpoint#leaders}.
     *
     * @throws ClientException if a group has no leader; in this case, no action was run
     */
    protected final void inEachGroup(InGroup action) throws IOException {
        for (Endpoint leader : server().leaders().values()) {
            try (ServerConnection connection = leader.connect()) {
                action.run(connection);
            }
        }
    }

    /** Returns a client for the server's documents. */
    protected final DocumentClient documents() throws IOException {
        return new DocumentClient(server());
    }

    /** Sets the exit code for documents that were rejected or not read, although others were transferred. */
    protected final void setIncomplete(boolean incomplete) {
        exitWith(incomplete ? ClientException.Kind.OTHER_STATE.exitCode() : CommandLine.ExitCode.OK);
    }

    /** Encodes a word from the command line as a name or value. */
    protected static byte[] bytes(String word) {
        return word.getBytes(UTF_8);
    }
}
