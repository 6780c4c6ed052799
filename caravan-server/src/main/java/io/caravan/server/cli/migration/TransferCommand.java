package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ConnectionOptions.TargetServer;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.ReconnectingClients;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/** The options of the commands that transfer documents between two servers. */
abstract class TransferCommand extends SourceCommand {
    /** The time after which a command ends if a server remains unreachable. */
    private static final long MAX_LOST_NANOS = TimeUnit.MINUTES.toNanos(10);

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
}
