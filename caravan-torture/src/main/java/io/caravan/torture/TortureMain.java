package io.caravan.torture;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.Shards;
import io.caravan.VerifyReport;
import io.caravan.bench.Programs;
import io.caravan.bench.ProgressLine;
import io.caravan.bench.WorkDirectories;
import io.caravan.testing.ServerProcess;
import io.caravan.testing.simulator.Simulator;
import io.caravan.torture.disk.FilledVolumes;
import io.caravan.torture.disk.SmallVolume;
import io.caravan.torture.embedded.EmbeddedSubject;
import io.caravan.torture.embedded.TortureChild;
import io.caravan.torture.group.GroupFault;
import io.caravan.torture.group.GroupNodeProcess;
import io.caravan.torture.group.GroupTorture;
import io.caravan.torture.round.RoundSummary;
import io.caravan.torture.round.Torture;
import io.caravan.torture.round.TortureOptions;
import io.caravan.torture.round.TortureSubject;
import io.caravan.torture.server.ServerSubject;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/torture}: kills a working store repeatedly, and checks the surviving contents. */
@Command(
        name = "torture",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Repeatedly kills a working store with SIGKILL, and checks each time that every acknowledged change is"
                    + " there, in order, with the right bytes, and nothing that was never sent.",
            "",
            "A child process works on the store, and this process records the acknowledged changes. The child is killed"
                    + " while it works, starts, or recovers, or is shut down (a server by SIGTERM, under load). Before"
                    + " that, the child may be suspended (SIGSTOP), or a second process may try to open the store,"
                    + " which must fail. Then the contents of the store are read and compared with the record, and"
                    + " the store is verified.",
            "",
            "Prints a line for each round and a summary (the time in which a server reopens includes its whole start)."
                    + " At the first failure, prints the details, keeps the directory, and exits with status 1. The"
                    + " seed determines the operations of each thread and the moment of the kill, but not how threads"
                    + " interleave."
        },
        footer = {
            "",
            "Examples:",
            "  torture --rounds 200 --seed 7 --dir /mnt/disk/torture",
            "                              an embedded store, 200 rounds, on the disk at /mnt/disk",
            "  torture --server            a server, 20 rounds",
            "  torture --server --shards 4 a server whose store has four shards",
            "  torture --server --hours 8  an overnight soak test",
            "  torture --cluster --rounds 10",
            "                              three nodes with replicas of one store, 10 rounds, a few minutes",
            "  torture --full-disk --hours 0.25",
            "                              a store whose disk fills up, for a quarter of an hour",
            "  torture --simulate --cuts 1000000",
            "                              a million power cuts, a few minutes"
        })
public final class TortureMain implements Callable<Integer> {

    @ArgGroup(exclusive = false, validate = false, heading = "%nWhat is tortured:%n", order = 0)
    private final Target target = new Target();

    @ArgGroup(exclusive = false, validate = false, heading = "%nHow long and where:%n", order = 1)
    private final Course course = new Course();

    @Mixin
    private final Evidence evidence = new Evidence();

    private static final class Target {
        private static final int MAX_WORKERS = 200;

        @Option(
                names = "--server",
                description = "the server, in its own process, over RESP; default: a store embedded in a child process")
        private boolean server;

        @Option(
                names = "--shards",
                paramLabel = "N",
                description = "number of shards of the server; default ${DEFAULT-VALUE}")
        private int shards = 1;

        @Option(
                names = "--simulate",
                description = {
                    "a simulation without processes: the real engine on an in-memory disk that loses, keeps, reorders,"
                            + " and tears writes that were not fsynced, with injected faults and power cuts between any"
                            + " two I/O calls, even during recovery. Thousands of cuts per second; a failing seed is"
                            + " reproducible, and is printed with its full history"
                })
        private boolean simulate;

        @Option(
                names = "--cluster",
                description = {
                    "a Raft group of three nodes, each in its own process: the leader, followers, two nodes, or all"
                            + " nodes are killed, suspended, or disconnected, and return; the disks of one or two nodes"
                            + " are slow, fail, or are full for a while, which needs a C compiler (cc), and is omitted"
                            + " without one"
                })
        private boolean cluster;

        @Option(
                names = "--full-disk",
                description = {
                    "put the store on a small file system that is filled in most rounds: appends must be rejected with"
                            + " a clear message, everything else must continue, even after a kill and a restart, and"
                            + " appends must resume when there is space again. Needs root to mount the file system (and"
                            + " unmounts it at the end); if that is impossible, the run is skipped and the reason is"
                            + " printed"
                })
        private boolean fullDisk;

        @Option(
                names = "--volumes",
                paramLabel = "N",
                description = "with --full-disk: instead, fill so many file systems of random sizes, ext4 and XFS, with"
                        + " one store each, delete its documents, and check that appends resume without a restart")
        private int volumes;

        @Option(
                names = "--workers",
                paramLabel = "N",
                description = "writing threads of an embedded store; default ${DEFAULT-VALUE}")
        private int workers = 4;

        @Option(
                names = "--connections",
                paramLabel = "N",
                description = "connections to the server, each writing to its own lists; default ${DEFAULT-VALUE}")
        private int connections = 16;

        @Option(names = "--lists", paramLabel = "N", description = "number of lists; default ${DEFAULT-VALUE}")
        private int lists = 240;

        private int writers() {
            return server ? connections : workers;
        }
    }

    /** The options that determine the length of a torture run. */
    private static final class Course {
        private static final int ROUNDS = 20;
        private static final long CUTS = 100_000;
        private static final double SECONDS_PER_HOUR = 3600;

        @Option(names = "--rounds", paramLabel = "N", description = "rounds to run; default " + ROUNDS)
        private @Nullable Integer rounds;

        @Option(names = "--cuts", paramLabel = "N", description = "with --simulate: cuts to make; default " + CUTS)
        private @Nullable Long cuts;

        @Option(
                names = "--hours",
                paramLabel = "H",
                description = "run as many rounds or cuts as fit in this many hours, such as 8 or 0.05, instead of a"
                        + " fixed number")
        private @Nullable Double hours;

        @Option(
                names = "--seconds-per-round",
                paramLabel = "SECONDS",
                description = "longest time from open to kill, without the trials in between; default ${DEFAULT-VALUE}")
        private double secondsPerRound = 1.5;

        private int rounds() {
            return rounds != null ? rounds : hours == null ? ROUNDS : Integer.MAX_VALUE;
        }

        private long cuts() {
            return cuts != null ? cuts : hours == null ? CUTS : Long.MAX_VALUE;
        }

        private Duration time() {
            return hours == null
                    ? Duration.ofSeconds(Integer.MAX_VALUE)
                    : Duration.ofSeconds((long) (hours * SECONDS_PER_HOUR));
        }

        private String words() {
            return hours == null ? rounds() + " rounds" : hours + " hours";
        }
    }

    public static void main(String[] arguments) {
        if (List.of(arguments).contains("--simulate")) {
            System.setProperty("caravan.engineLog", "OFF");
        }
        System.exit(Programs.run(new TortureMain(), arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkOptions();
        if (target.simulate) {
            return new SimulatedTorture(evidence.seed(), course.cuts(), course.time(), System.out).run() ? 0 : 1;
        }
        return evidence.run(work -> target.fullDisk ? runOnSmallVolumes(work) : run(work, null));
    }

    private boolean runOnSmallVolumes(Path work) throws IOException, InterruptedException {
        try {
            return target.volumes > 0 ? fillVolumes(work) : runOnSmallVolume(work);
        } catch (SmallVolume.NotPossibleException reason) {
            System.out.println("--full-disk is skipped: " + reason.getMessage());
            return true;
        }
    }

    private boolean runOnSmallVolume(Path work) throws IOException, InterruptedException {
        try (SmallVolume volume = SmallVolume.mount(work)) {
            boolean clean = run(work, volume);
            if (!clean) {
                WorkDirectories.copy(volume.directory(), work.resolve("as-it-was-in-the-end"));
            }
            return clean;
        }
    }

    private boolean fillVolumes(Path work) throws IOException {
        System.out.println("seed " + evidence.seed() + ", " + target.volumes + " volumes in " + work);
        SplittableRandom random = new SplittableRandom(evidence.seed());
        return new FilledVolumes(work, System.out)
                .run(Stream.generate(() -> FilledVolumes.Case.random(random))
                        .limit(target.volumes)
                        .toList());
    }

    private boolean run(Path work, @Nullable SmallVolume volume) throws IOException, InterruptedException {
        TortureOptions options = new TortureOptions(
                course.rounds(),
                course.time(),
                evidence.seed(),
                work,
                course.secondsPerRound,
                target.writers(),
                target.lists,
                volume);
        System.out.println("seed " + evidence.seed() + ", " + course.words() + " in " + work);
        RoundSummary summary = target.cluster
                ? GroupTorture.run(GroupNodeProcess.class.getName(), options, List.of(GroupFault.values()), System.out)
                : run(options);
        System.out.println(summary);
        return summary.clean();
    }

    private RoundSummary run(TortureOptions options) throws IOException, InterruptedException {
        try (TortureSubject subject = subject(options)) {
            return new Torture(options, subject, TortureMain::verify, System.out).run();
        }
    }

    /** Verifies the store, and returns the faults of all shards. */
    public static VerifyReport verify(Path store) {
        List<CaravanException> faults = new ArrayList<>();
        VerifyReport last = null;
        for (Path shard : Shards.directories(store)) {
            last = DurableListStore.verify(shard, VerifyReport.Progress.NONE);
            faults.addAll(last.faults());
        }
        return Objects.requireNonNull(last).withFaults(faults);
    }

    private TortureSubject subject(TortureOptions options) throws IOException {
        return target.server
                ? new ServerSubject(options, target.shards, ServerProcess.MAIN)
                : new EmbeddedSubject(options, TortureChild.class.getName());
    }

    private void checkOptions() {
        evidence.check(course.rounds() >= 1, "--rounds must be 1 or more");
        evidence.check(
                !target.simulate || !target.server && !target.fullDisk,
                "--simulate cannot be combined with --server" + " or --full-disk");
        evidence.check(
                !target.cluster || !target.server && !target.fullDisk && !target.simulate,
                "--cluster cannot be combined with --server, --full-disk or --simulate");
        evidence.check(
                target.volumes == 0 || target.fullDisk && !target.server,
                "--volumes requires --full-disk, without --server");
        evidence.check(target.volumes >= 0, "--volumes must not be negative");
        evidence.check(target.shards == 1 || target.server, "--shards requires --server");
        evidence.check(target.shards >= 1 && target.shards <= Shards.MAX_SHARDS, "--shards must be from 1 to 16");
        evidence.check(course.cuts == null || target.simulate, "--cuts requires --simulate");
        evidence.check(course.cuts() >= 1, "--cuts must be 1 or more");
        evidence.check(course.rounds == null || course.hours == null, "--rounds and --hours exclude each other");
        evidence.check(course.hours == null || course.hours > 0, "--hours must be above 0");
        evidence.check(course.secondsPerRound > 0, "--seconds-per-round must be above 0");
        int writers = target.writers();
        String option = target.server ? "--connections" : "--workers";
        evidence.check(
                writers >= 1 && writers <= Target.MAX_WORKERS, option + " must be from 1 to " + Target.MAX_WORKERS);
        evidence.check(target.lists >= writers, "--lists must be at least as many as " + option);
    }

    /**
     * Simulates power failures instead of killing processes: thousands of failures per second, all of them
     * reproducible.
     *
     * @param time time limit after which the run ends even with fewer cuts
     */
    private record SimulatedTorture(long seed, long cuts, Duration time, PrintStream out) {
        /** Runs the simulations; returns whether no acknowledged data was lost. */
        public boolean run() throws InterruptedException, IOException {
            int threads = Runtime.getRuntime().availableProcessors();
            out.println("seed " + seed + ", " + threads + " threads");
            ProgressLine progress = new ProgressLine(System.err);
            long start = System.nanoTime();
            Simulator.Report report = Simulator.run(seed, cuts, time, threads, done -> {
                synchronized (progress) {
                    progress.show(() ->
                            done + " cuts, " + Math.round(done / ((System.nanoTime() - start) / 1e9)) + " per second");
                }
            });
            progress.clear();
            Simulator.Failure failure = report.failure();
            if (failure != null) {
                printFailure(failure);
            }
            out.printf(
                    Locale.ROOT,
                    "%,d cuts in %,d simulations (seeds %d to %d), %,.0f per second; %s%n",
                    report.cuts(),
                    report.simulations(),
                    seed,
                    seed + report.simulations() - 1,
                    report.cutsPerSecond(),
                    failure == null ? "nothing was lost" : "FAILED");
            return failure == null;
        }

        private void printFailure(Simulator.Failure failure) throws IOException {
            Path story = Files.createTempFile("caravan-simulation-" + failure.seed() + "-", ".txt");
            Files.write(story, failure.story());
            out.println(failure.storysEnd());
            out.println("seed " + failure.seed() + ": " + failure.problem().getMessage());
            out.println("The full history is in " + story + "; reproduce the failure with --simulate --cuts "
                    + (failure.cuts() + 1) + " --seed " + failure.seed());
        }
    }
}
