package io.caravan.server.cli.document;

import io.caravan.server.cli.common.Output;
import java.io.IOException;
import picocli.CommandLine.Command;

@Command(
        name = "tail",
        description = {
            "Prints the values of a document as they are appended, until the document is closed or deleted, or until"
                    + " Ctrl-C. Waits for a document that does not exist yet. Prints values in the same form as"
                    + " 'caravan get'.",
            "If the connection is lost, the command reconnects and continues with the next sequence, so that it"
                    + " neither skips nor repeats a value. In a cluster, it asks the node of --server for the"
                    + " document's leader."
        },
        footer = {
            "  caravan tail logs/today",
            "  caravan tail letters/1 --from 0 --json",
            "  caravan tail logs/today --count 1"
        })
public final class TailCommand extends ValueCommand {
    @Override
    protected void run(Output output) throws IOException {
        Follower follower = new Follower(server(), bytes(name), first(), maxValues(), this::printMessage);
        runUntilSignal(follower::stop, () -> {
            follower.follow(value -> print(value, output), output::flush);
            output.flush();
        });
    }
}
