package io.caravan.server.cli.cluster;

import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Removes a host from a cluster. */
@Command(
        name = "remove",
        description = {
            "Removes a host, which may be lost. Ask the host that leads, which cannot be removed itself: transfer leadership"
                    + " first. A host that is removed while it runs stops by itself after an election's time; with the files"
                    + " that it has it cannot come back. Refused when the hosts that remain have no majority that can be"
                    + " reached.",
            "Needs the permission admin."
        },
        footer = {"  caravan cluster remove c --server 127.0.0.1:6381"})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ClusterRemoveCommand extends HostsCommand {
    @Parameters(paramLabel = "HOST", description = "The host that is to go.")
    private String host;

    ClusterRemoveCommand(Console console) {
        super(console);
    }

    @Override
    protected void run(Output output) throws IOException {
        change(
                output,
                "removes host " + host + ", which stops and cannot come back with its files",
                -1,
                Stream.of("REMOVE", host));
    }
}
