package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.CommandRun;
import java.util.List;

/**
 * The result of a command that ran in this JVM.
 *
 * @param text the output on both streams
 */
public record ClusterCommandRun(int exitCode, String text) {
    /** Runs a subcommand of {@code cluster}. */
    public static ClusterCommandRun of(String... words) {
        return caravan(CommandRun.words(List.of("cluster"), words));
    }

    /** Runs any command. */
    public static ClusterCommandRun caravan(String... words) {
        CommandRun run = CommandRun.at(null, words);
        return new ClusterCommandRun(run.exitCode(), run.out() + run.err());
    }
}
