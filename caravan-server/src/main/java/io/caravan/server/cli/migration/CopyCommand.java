package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.ReconnectingClients;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.migration.ImportCommand.ImportOptions;
import io.caravan.server.cli.migration.Importer.Outcome;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "copy",
        description = {
            "Copies a document, or all that the user may read, from the server to another one, with their sequences and"
                    + " attributes, and reads each back to compare it. Each is copied as it was at one moment, and becomes"
                    + " visible when it is complete. The servers do not connect to each other.",
            "If the name of a document is taken there by another one, it is rejected and reported; all others are copied."
                    + " After an interruption, run the command again: identical documents are not copied again,"
                    + " except with --existing replace."
        },
        footer = {
            "  caravan copy letters/1 --to other.example:6380",
            "  caravan copy --prefix letters/ --to other.example:6380 --to-user mover --to-password-file secret",
            "  caravan copy --prefix letters/ --to other.example:6380 --follow"
        })
public final class CopyCommand extends TransferCommand {
    @Mixin
    private ImportOptions importOptions;

    @Option(
            names = "--follow",
            description =
                    "Keep copying changes, until Ctrl-C or until the document is moved. A document whose first values"
                            + " exist there already is continued.")
    private boolean follow;

    @Override
    protected void run(Output output) throws IOException {
        checkSelection();
        if (follow) {
            follow(output);
        } else {
            copy(output);
        }
    }

    private void follow(Output output) throws IOException {
        requireAllListed();
        try (ReconnectingClients servers = servers()) {
            DocumentFollower follower = new DocumentFollower(
                    servers, importOptions.existing(), false, oneName(), allNames(), this::printMessage);
            Output.Writing work = () -> {
                try (Progress progress = showProgress(follower::progress)) {
                    follower.follow();
                }
                follower.print(output);
                output.flush();
                setIncomplete(follower.rejected() > 0);
            };
            runUntilSignal(servers::stop, work);
        }
    }

    private void copy(Output output) throws IOException {
        RateLimitRetries retries = new RateLimitRetries(this::printMessage);
        TransferTotals totals = new TransferTotals(this::printMessage);
        try (Progress progress = countProgress("documents");
                DocumentClient to = DocumentClient.ofAllGroups(other.endpoint(connectionOptions));
                DocumentClient from = DocumentClient.ofAllGroups(server())) {
            Importer importer = importOptions.importer(to, retries, totals);
            boolean complete = read(from, importer, progress);
            importer.finish();
            setIncomplete(!complete || totals.number(Outcome.REJECTED) > 0);
            totals.print(output, "copied", "document");
        }
    }
}
