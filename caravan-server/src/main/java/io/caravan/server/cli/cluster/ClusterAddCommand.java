package io.caravan.server.cli.cluster;

import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Adds a node to a cluster. */
@Command(
        name = "add",
        description = {
            "Adds a node that was started with 'caravan serve --cluster-join'. Send this command to the leader."
                    + " Prints the plan, waits until the node has all data and is a member, and prints the members."
                    + " This takes as long as copying the store. If you stop the command, the change continues.",
            "If the addition fails, nothing has changed: add the node again. If another node becomes the leader,"
                    + " 'caravan cluster status' shows whether the node was added. Requires the admin permission."
        },
        footer = {"  caravan cluster add d --cluster-file cluster.properties --server 127.0.0.1:6381"})
final class ClusterAddCommand extends MembershipCommand {
    @Parameters(paramLabel = "NODE", description = "Id of the new node.")
    private String node;

    @Option(
            names = "--cluster-file",
            required = true,
            paramLabel = "FILE",
            description = "Cluster file with which the new node was started. It contains the addresses of the node.")
    private Path file;

    @Override
    protected void run(Output output) throws IOException {
        Joining joining = Joining.read(file, node);
        change(
                output,
                "adds " + joining + ", which receives all data first",
                1,
                joining,
                List.of("ADD", joining.words()));
    }
}
