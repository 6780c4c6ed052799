package io.caravan.bench.cluster;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.MachineLimits;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code scripts/bench cluster}: what it costs to keep documents on three hosts, and how long a lost leader is missed. */
@Command(
        name = "cluster",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "A cluster of three hosts beside one host alone and Redis with two replicas and WAIT 1: appends a second over 50"
                    + " connections, and one writer's waits. Then kills leaders.",
            "All hosts are processes on this machine, and share its disk and cores: a cluster of three machines has three"
                    + " times the disks, and a network between them. Each system is started fresh and alone, in turn, in a"
                    + " rotating order; figures are medians of the runs. Every run also measures the force times of the"
                    + " machine.",
            "Uses redis-server from the PATH; if it is missing, its row says so."
        })
public final class ClusterCommand implements Callable<Integer> {
    private static final int KILLS = 20;
    private static final int QUICK_KILLS = 2;

    @Option(
            names = "--kills",
            paramLabel = "N",
            description =
                    "how often a leader is killed in each run; default " + KILLS + ", with --quick " + QUICK_KILLS)
    private @Nullable Integer kills;

    @Option(names = "--alone", description = "Caravan without Redis")
    private boolean alone;

    @Mixin
    private final Course course = new Course();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean quick = course.quick();
        int killed = kills != null ? kills : quick ? QUICK_KILLS : KILLS;
        if (killed < 1 && spec != null) {
            throw new ParameterException(spec.commandLine(), "--kills must be 1 or more");
        }
        List<Contestant> contestants = Contestant.all(alone);
        course.run(List.of(
                new MachineLimits(quick),
                new ClusterRates(contestants, quick),
                new LoneWriter(contestants, quick),
                new Takeovers(killed)));
        return 0;
    }
}
