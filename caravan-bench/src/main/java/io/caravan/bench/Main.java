package io.caravan.bench;

import io.caravan.bench.engine.EngineCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code scripts/bench}: one entry for all measurements. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        subcommands = EngineCommand.class,
        description = "Measures Caravan beside the limits of the machine it runs on.",
        footer = {"", "Examples:", "  bench engine --quick", "  bench engine --out results"})
public final class Main {

    private Main() {}

    public static void main(String[] arguments) {
        Logging.warningsOnly();
        System.exit(run(arguments));
    }

    /** Returns the exit status. */
    public static int run(String... arguments) {
        CommandLine commands = new CommandLine(new Main());
        if (arguments.length == 0) {
            commands.usage(System.out);
            return commands.getCommandSpec().exitCodeOnUsageHelp();
        }
        return commands.execute(arguments);
    }
}
