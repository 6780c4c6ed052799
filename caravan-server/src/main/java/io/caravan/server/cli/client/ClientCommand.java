package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.client.ConnectionOptions.SourceServer;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
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

    protected final ServerConnection connect() throws IOException {
        return connectionOptions.connect();
    }

    /** Connects to a node of the server's cluster, or to the server itself if the node is null. */
    protected final ServerConnection connect(@Nullable HostPort node) throws IOException {
        return node == null ? connect() : connectionOptions.connect(node);
    }

    /**
     * Returns connectors to the leaders, one for each Raft group of the server's cluster. If the server is not in a
     * cluster, or leads the only group, the connector uses the address of {@code --server}: the address that the server
     * reports may not be reachable from this machine.
     *
     * @throws ClientException if a group has no leader
     */
    protected final List<ServerConnection.Connector> leaders() throws IOException {
        ServerInfo info;
        try (ServerConnection connection = connect()) {
            info = connection.info();
        }
        List<HostPort> found = info.leaders();
        if (found.isEmpty() || found.size() == 1 && info.text("cluster_role").equals("leader")) {
            return List.of(this::connect);
        }
        return found.stream()
                .<ServerConnection.Connector>map(leader -> () -> connectionOptions.connect(leader))
                .toList();
    }

    /** An action that runs on the leader of each Raft group of a cluster. */
    protected interface InGroup {
        void run(ServerConnection leader) throws IOException;
    }

    /**
     * Runs an action on each of the {@link #leaders}.
     *
     * @throws ClientException if a group has no leader; in this case, no action was run
     */
    protected final void inEachGroup(InGroup action) throws IOException {
        for (ServerConnection.Connector leader : leaders()) {
            try (ServerConnection connection = leader.connect()) {
                action.run(connection);
            }
        }
    }

    /**
     * Checks that the source lists all documents. Over RESP, a node of a cluster lists only the documents of its own
     * Raft group. A server that fetches documents from its archive on demand lists only those that it has fetched.
     *
     * @throws ClientException if documents may be missing
     */
    protected final void requireAllListed(SourceServer source) throws IOException {
        if (!source.isNamed() && leaders().size() > 1) {
            throw ClientException.failed(
                    "over RESP, the server lists only one of the several groups of its cluster: name any node with"
                            + " --from http://HOST:PORT, or https://HOST:PORT");
        }
        try (DocumentClient carrier = source.documents(connectionOptions)) {
            requireComplete(carrier);
        }
    }

    /**
     * Checks that a server lists all of its documents.
     *
     * @throws ClientException if a document may exist only in the archive
     */
    protected static void requireComplete(DocumentClient carrier) {
        // The server reports the state as of its last scan.
        carrier.scan(DocumentClient.Names.before(), new byte[0]);
        if (carrier.about().incomplete()) {
            throw ClientException.otherState("the server lists only those of its documents that it has fetched from its"
                    + " archive so far (--archive-hydrate): stop it and fetch the rest, with 'caravan restore --archive"
                    + " URL --data DIR', or name the document");
        }
    }

    /** Returns a client for the server's documents over RESP. */
    protected final RespDocumentClient documents() throws IOException {
        return new RespDocumentClient(this::connect);
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
