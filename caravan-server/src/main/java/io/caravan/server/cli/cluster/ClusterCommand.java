package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.VersionProvider;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The commands for a cluster. */
@Command(
        name = "cluster",
        description = {
            "Several nodes that keep the same documents: one leads and takes changes, and acknowledges a change when the"
                    + " majority has it on disk. When the leader is lost, another takes over with everything that was ever"
                    + " acknowledged. 'caravan cluster demo' starts three nodes on this machine.",
            "A node is started with 'caravan serve --cluster-file FILE --cluster-node ID'."
        },
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
public final class ClusterCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    private ClusterCommand() {}

    public static CommandLine commands(Console console) {
        return CliCommand.add(
                new CommandLine(new ClusterCommand()),
                console,
                new ClusterDemoCommand(),
                new ClusterStatusCommand(),
                new ClusterTransferCommand(),
                new ClusterDrainCommand(),
                new ClusterAddCommand(),
                new ClusterRemoveCommand(),
                new ClusterReplaceCommand());
    }

    /** Throws {@link ClientException} if the server with these statistics is not a node of a cluster. */
    static void requireCluster(ServerInfo info) {
        if (!"1".equals(info.text("cluster_enabled"))) {
            throw ClientException.failed("this server is alone: it is no node of a cluster");
        }
    }

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "say what to do with the cluster: demo, status, transfer, drain, add, remove or replace");
    }
}
