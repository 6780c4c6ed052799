package io.caravan.server.cli.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.common.Console;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine;

/**
 * One run of a command for a cluster within this process.
 *
 * @param text what it printed, on both streams
 */
public record ClusterCommandRun(int exitCode, String text) {
    public static ClusterCommandRun of(String... words) {
        return of(ClusterCommand::commands, words);
    }

    /** Runs a command of these, which concern a cluster, too. */
    public static ClusterCommandRun of(Function<Console, CommandLine> commands, String... words) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        StringWriter err = new StringWriter();
        Console console = new Console(new ByteArrayInputStream(new byte[0]), out, Map.of(), false);
        int exitCode =
                commands.apply(console).setErr(new PrintWriter(err, true)).execute(words);
        return new ClusterCommandRun(exitCode, out.toString(UTF_8) + err);
    }
}
