package io.caravan.bench;

import io.caravan.bench.archive.ArchiveCommand;
import io.caravan.bench.cluster.ClusterCommand;
import io.caravan.bench.engine.EngineCommand;
import io.caravan.bench.engine.GroupsCommand;
import io.caravan.bench.gate.GateCommand;
import io.caravan.bench.load.LoadCommand;
import io.caravan.bench.network.ServerCommand;
import io.caravan.bench.seeds.SeedsCommand;
import io.caravan.bench.service.ServiceCommand;
import picocli.CommandLine.Command;

/** {@code scripts/bench}: the entry point of all measurements. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        subcommands = {
            ListCommand.class,
            AllCommand.class,
            EngineCommand.class,
            GroupsCommand.class,
            GateCommand.class,
            LoadCommand.class,
            ServerCommand.class,
            ServiceCommand.class,
            ClusterCommand.class,
            SeedsCommand.class,
            ArchiveCommand.class
        },
        description = "Measures Caravan beside its peers and the limits of the machine it runs on.",
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

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    /** Returns the exit status. */
    public static int run(String... arguments) {
        return Programs.run(new Main(), arguments.length == 0 ? HELP : arguments);
    }
}
