package io.caravan.bench;

import io.caravan.bench.archive.ArchiveBenchCommand;
import io.caravan.bench.cluster.ClusterBenchCommand;
import io.caravan.bench.engine.EngineCommand;
import io.caravan.bench.engine.ShardsCommand;
import io.caravan.bench.gate.GateCommand;
import io.caravan.bench.load.LoadCommand;
import io.caravan.bench.published.PublishedCommand;
import io.caravan.bench.report.ReportPage;
import io.caravan.bench.server.ServerCommand;
import io.caravan.bench.service.ServiceCommand;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code scripts/bench}: the entry point for all measurements. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        subcommands = {
            AllCommand.class,
            EngineCommand.class,
            ShardsCommand.class,
            GateCommand.class,
            LoadCommand.class,
            ServerCommand.class,
            ServiceCommand.class,
            ClusterBenchCommand.class,
            PublishedCommand.class,
            ArchiveBenchCommand.class
        },
        description = "Measures Caravan, and compares it with its peers and with the limits of the machine.",
        footer = {
            "",
            "Examples:",
            "  bench list",
            "  bench all --out results",
            "  bench engine --quick",
            "  bench engine --out results",
            "  bench gate --quick",
            "  bench load --rate 16000",
            "  bench service --seconds 20",
            "  bench server --only redis,http",
            "  bench cluster --quick",
            "  bench archive --only documents"
        })
public final class Main {

    private static final String[] HELP = {"--help"};

    @Spec
    private @Nullable CommandSpec spec;

    private Main() {}

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Lists the suites, a line or two each; see NAME --help for more.")
    void list() {
        CommandLine line = Objects.requireNonNull(spec).commandLine();
        line.getSubcommands().forEach((name, suite) -> {
            if (ReportPage.SUITES.contains(name)) {
                String[] description = suite.getCommandSpec().usageMessage().description();
                line.getOut().printf(Locale.ROOT, "%-16s %s%n", name, description[0]);
            }
        });
        line.getOut().flush();
    }

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    /** Runs a command line and returns its exit status. */
    public static int run(String... arguments) {
        return Programs.run(new Main(), arguments.length == 0 ? HELP : arguments);
    }
}
