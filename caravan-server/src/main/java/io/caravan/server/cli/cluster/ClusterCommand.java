package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.VersionProvider;
import picocli.CommandLine.Command;

/** The commands for a cluster. */
@Command(
        name = "cluster",
        description = {
            "Several nodes that keep the same documents. The leader orders the writes, and acknowledges a write when a"
                    + " majority has it on disk. If the leader is lost, another node takes over with every acknowledged"
                    + " write. 'caravan cluster demo' starts three nodes on this machine.",
            "A node is started with 'caravan serve --cluster-file FILE --cluster-node ID'."
        },
        subcommands = {
            ClusterDemoCommand.class,
            ClusterStatusCommand.class,
            ClusterTransferCommand.class,
            ClusterDrainCommand.class,
            ClusterAddCommand.class,
            ClusterRemoveCommand.class,
            ClusterReplaceCommand.class
        },
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
public final class ClusterCommand {
    /** Throws {@link ClientException} if the server with these statistics is not a node of a cluster. */
    static void requireCluster(ServerInfo info) {
        if (!"1".equals(info.text("cluster_enabled"))) {
            throw ClientException.failed("this server is not a node of a cluster");
        }
    }
}
