package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ConnectionOptions.TargetServer;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.ReconnectingClients;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options of the commands that transfer documents between two servers. */
abstract class TransferCommand extends ClientCommand {
    /** The time after which a command ends if a server remains unreachable. */
    private static final long MAX_LOST_NANOS = TimeUnit.MINUTES.toNanos(10);

    @Parameters(
            paramLabel = "NAME",
            converter = NameConverter.class,
            arity = "0..1",
            description = "The document; without it, all documents whose names start with --prefix.")
    protected @Nullable String name;

    @Option(names = "--prefix", paramLabel = "PREFIX", description = "All documents whose names start with this.")
    protected @Nullable String prefix;

    @Mixin
    protected TargetServer other;

    protected final ReconnectingClients servers() {
        return new ReconnectingClients(
                List.of(
                        () -> DocumentClient.ofAllGroups(server()),
                        () -> DocumentClient.ofAllGroups(other.endpoint(connectionOptions))),
                MAX_LOST_NANOS,
                this::printMessage);
    }

    /**
     * Checks that the server lists all of its documents, unless a single document is to be transferred.
     *
     * @throws ClientException if a document may exist only in the archive
     */
    protected final void requireAllListed() throws IOException {
        if (name == null) {
            try (DocumentClient source = DocumentClient.ofAllGroups(server())) {
                source.requireComplete();
            }
        }
    }

    /** Returns the name of the single document to transfer, or null for all documents. */
    protected final byte @Nullable [] oneName() {
        return name == null ? null : bytes(name);
    }

    /** Returns the beginning of the names of all documents to transfer. */
    protected final byte[] allNames() {
        return bytes(Objects.requireNonNullElse(prefix, ""));
    }
}
