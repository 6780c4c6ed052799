package io.caravan.server.cli.cluster;

import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Replaces a node of a cluster with a new one. */
@Command(
        name = "replace",
        description = "Replaces a node that is lost, or that was stopped some seconds ago, with a new node in one"
                + " step, so that the cluster never has fewer nodes than before. The rules and the output are those"
                + " of 'cluster add' and 'cluster remove'. Requires the admin permission.",
        footer = {"  caravan cluster replace c d --cluster-file cluster.properties --server 127.0.0.1:6381"})
final class ClusterReplaceCommand extends MembershipCommand {
    @Parameters(index = "0", paramLabel = "OLD", description = "Id of the node to remove.")
    private String old;

    @Parameters(index = "1", paramLabel = "NEW", description = "Id of the new node, which no node may have had before.")
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
                "replaces node " + old + ", which cannot come back with its files, with " + joining
                        + ", which receives all data first",
                0,
                joining,
                List.of("REPLACE", old, joining.words()));
    }
}
