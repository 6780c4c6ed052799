package io.caravan.server.cli.cluster;

import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Adds a node to a cluster. */
@Command(
        name = "add",
        description = {
            "Adds a node that was started with 'caravan serve --cluster-join'. Ask the node that leads. The new one is sent"
                    + " all that the cluster has, and votes once it has it; the cluster serves meanwhile. Waits until that is"
                    + " done, which takes as long as to copy the store; when this command is stopped, the cluster goes on."
                    + " If it fails, nothing has changed: add the node again. If leadership moves in the meantime, the command says"
                    + " so, and 'caravan cluster status' shows whether the node was added.",
            "Needs the permission admin."
        },
        footer = {"  caravan cluster add d --cluster-file cluster.properties --server 127.0.0.1:6381"})
final class ClusterAddCommand extends MembershipCommand {
    @Parameters(paramLabel = "NODE", description = "The new node.")
    private String host;

    @Option(
            names = "--cluster-file",
            required = true,
            paramLabel = "FILE",
            description = "The cluster's file that the new node is started with, which has its addresses.")
    private Path file;

    @Override
    protected void run(Output output) throws IOException {
        Joining joining = Joining.read(file, host);
        change(
                output,
                "adds " + joining + ", which is sent everything first",
                1,
                joining,
                Stream.concat(Stream.of("ADD"), joining.words()));
    }
}
