package io.caravan.server.cli.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.Main;
import io.caravan.server.cli.common.Console;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A run of a command in this JVM.
 *
 * @param text the output on both streams
 */
public record ClusterCommandRun(int exitCode, String text) {
    /** Runs a subcommand of {@code cluster}. */
    public static ClusterCommandRun of(String... words) {
        return caravan(Stream.concat(Stream.of("cluster"), Stream.of(words)).toArray(String[]::new));
    }

    /** Runs any command. */
    public static ClusterCommandRun caravan(String... words) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        StringWriter err = new StringWriter();
        Console console = new Console(new ByteArrayInputStream(new byte[0]), out, Map.of(), false);
        int exitCode = Main.commandLine(Map.of(), console)
                .setErr(new PrintWriter(err, true))
                .execute(words);
        return new ClusterCommandRun(exitCode, out.toString(UTF_8) + err);
    }
}
