package io.caravan.bench;

import java.io.PrintWriter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code scripts/bench list}: lists the suites. */
@Command(
        name = "list",
        mixinStandardHelpOptions = true,
        description = "Lists the suites, a line or two each; see NAME --help for more.")
final class ListCommand implements Runnable {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        if (spec == null) {
            throw new IllegalStateException("picocli sets the command's description");
        }
        PrintWriter out = spec.commandLine().getOut();
        spec.parent().subcommands().forEach((name, suite) -> {
            if (Suites.NAMES.contains(name)) {
                out.printf(
                        Locale.ROOT,
                        "%-16s %s%n",
                        name,
                        suite.getCommandSpec().usageMessage().description()[0]);
            }
        });
        out.flush();
    }
}
