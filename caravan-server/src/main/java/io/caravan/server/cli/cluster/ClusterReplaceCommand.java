package io.caravan.server.cli.cluster;

import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Replaces a node of a cluster with a new one. */
@Command(
        name = "replace",
        description = {
            "Has a new node, started with 'caravan serve --cluster-join', take the place of one that is lost for good or has"
                    + " been stopped: 'cluster add' and 'cluster remove' in one step, so that the cluster is never a node short of"
                    + " what it was. What is said of those holds here.",
            "Needs the permission admin."
        },
        footer = {"  caravan cluster replace c d --cluster-file cluster.properties --server 127.0.0.1:6381"})
final class ClusterReplaceCommand extends MembershipCommand {
    @Parameters(index = "0", paramLabel = "OLD", description = "The node that is to go.")
    private String old;

    @Parameters(index = "1", paramLabel = "NEW", description = "The new node; its id is one that none had.")
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
                "replaces node " + old + ", which cannot come back with its files, by " + joining
                        + ", which is sent everything first",
                0,
                joining,
                Stream.concat(Stream.of("REPLACE", old), joining.words()));
    }
}
