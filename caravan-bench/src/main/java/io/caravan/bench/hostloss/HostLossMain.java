package io.caravan.bench.hostloss;

import io.caravan.bench.Directories;
import io.caravan.bench.Programs;
import io.caravan.bench.s3.S3Software;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code scripts/host-loss}: loses whole hosts and checks what the archive restores. */
@Command(
        name = "host-loss",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Repeatedly loses a whole host, and checks what the archive alone restores.",
            "",
            "In each round, a real server archives to a real S3 server while connections append to many documents,"
                    + " trim, delete and recreate them, and record every answer with its time. At a random moment"
                    + " the server is killed with SIGKILL and its data deleted. `caravan restore` creates a new"
                    + " store from the archive. A server on that store must show each document exactly as it was"
                    + " after one of its changes: values byte for byte, sequences, deletions. Every change answered"
                    + " earlier than --archive-after plus --allowance before the kill must be included. The next"
                    + " round continues the load against the new server.",
            "",
            "Prints a line for each round. At the first failure it prints the details, keeps the directory and exits"
                    + " with 1. The seed determines what each connection does and when the kill comes, but not how"
                    + " processes interleave."
        },
        footer = {
            "",
            "Examples:",
            "  host-loss                       three hosts, with s3proxy, which needs no installation",
            "  host-loss --s3 moto --faults    with failures between the server and S3",
            "  host-loss --s3 versitygw --kill-restore --rounds 10 --seed 7",
            "  host-loss --lie snapshots_lost  proves that a loss is detected: exits with 1"
        })
public final class HostLossMain implements Callable<Integer> {

    @ArgGroup(exclusive = false, validate = false, heading = "%nWhat is drilled:%n", order = 0)
    private final Target target = new Target();

    @ArgGroup(exclusive = false, validate = false, heading = "%nHow long and where:%n", order = 1)
    private final Course course = new Course();

    @Spec
    private @Nullable CommandSpec spec;

    /** What is drilled. */
    private static final class Target {
        @Option(
                names = "--s3",
                paramLabel = "SERVER",
                description = {
                    "one of ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.",
                    "moto needs python3 and its venv module, versitygw needs Go; each is installed once, beside this"
                            + " program"
                })
        private S3Software s3 = S3Software.S3PROXY;

        @Option(
                names = "--faults",
                description = {
                    "disturbs the connection to S3: errors, throttling, delays, cut connections, and the S3 server"
                            + " killed (or stopped, when a kill would lose its objects) and restarted. A change must"
                            + " then be archived within --archive-after of S3's recovery; no answer may wait for the"
                            + " archive, and the server must report that the archive lags"
                })
        private boolean faults;

        @Option(
                names = "--kill-restore",
                description = "kills `caravan restore` at random moments and restarts it until it completes")
        private boolean killRestore;

        @Option(
                names = "--kill-prune",
                description = "runs `caravan archive prune` beside the server and kills it at random moments")
        private boolean killPrune;

        @Option(
                names = "--lie",
                paramLabel = "LIE",
                description = "damages the archive before the restore, which must be detected: one of"
                        + " ${COMPLETION-CANDIDATES}")
        private @Nullable Lie lie;

        @Option(names = "--documents", paramLabel = "N", description = "default ${DEFAULT-VALUE}")
        private int documents = 100;

        @Option(names = "--connections", paramLabel = "N", description = "default ${DEFAULT-VALUE}")
        private int connections = 4;

        @Option(
                names = "--rate",
                paramLabel = "N",
                description = "changes a second; what can be archived in time depends on the S3 server, so the rate"
                        + " does not show Caravan's limit; default ${DEFAULT-VALUE}")
        private int rate = 200;

        private Set<Hardship> hardships() {
            Set<Hardship> hardships = EnumSet.noneOf(Hardship.class);
            add(hardships, faults, Hardship.FAULTS);
            add(hardships, killRestore, Hardship.KILL_RESTORE);
            add(hardships, killPrune, Hardship.KILL_PRUNE);
            return hardships;
        }

        private static void add(Set<Hardship> hardships, boolean wanted, Hardship hardship) {
            if (wanted) {
                hardships.add(hardship);
            }
        }
    }

    /** How long and where. */
    private static final class Course {
        @Option(names = "--rounds", paramLabel = "N", description = "hosts to lose; default ${DEFAULT-VALUE}")
        private int rounds = 3;

        @Option(
                names = "--seconds",
                paramLabel = "SECONDS",
                description = "how long a server serves, at most, beyond --archive-after; default ${DEFAULT-VALUE}")
        private double seconds = 8;

        @Option(
                names = "--archive-after",
                paramLabel = "SECONDS",
                description = "the server's option: maximum age of an unarchived change; default ${DEFAULT-VALUE}")
        private double archiveAfter = 5;

        @Option(
                names = "--allowance",
                paramLabel = "SECONDS",
                description = "how much longer archiving may take; default ${DEFAULT-VALUE}")
        private double allowance;

        @Option(
                names = "--seed",
                paramLabel = "S",
                description = "seed of everything random; default: the time, printed")
        private long seed = System.currentTimeMillis();

        @Option(
                names = "--dir",
                paramLabel = "DIR",
                description = "working directory; must be missing or empty; default: a temporary directory, deleted"
                        + " on success")
        private @Nullable Path directory;
    }

    public static void main(String[] arguments) {
        System.exit(Programs.run(new HostLossMain(), arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkOptions();
        String missing = target.s3.install();
        if (missing != null) {
            throw new IOException(target.s3 + " cannot run here: " + missing);
        }
        Path directory = course.directory;
        Path work =
                directory == null ? Files.createTempDirectory("caravan-host-loss") : Files.createDirectories(directory);
        HostLossSummary summary = run(work);
        if (!summary.clean()) {
            summary.problems().forEach(problem -> System.out.println("FAULT: " + problem));
            System.out.println("The archive, the restored store, and the output of the processes are kept in " + work);
            return 1;
        }
        if (directory == null) {
            Directories.delete(work);
        }
        return 0;
    }

    private HostLossSummary run(Path work) throws IOException, InterruptedException {
        System.out.println("seed " + course.seed + ", " + course.rounds + " rounds with " + target.s3 + " in " + work);
        HostLossSummary summary = new HostLossDrill(options(work), System.out).run();
        System.out.printf(
                Locale.ROOT,
                "%d rounds, %,d changes answered, %,d of them lost within the allowed age%n%s%n",
                summary.rounds(),
                summary.answers(),
                summary.lost(),
                summary.clean() ? "no faults" : summary.problems().size() + " FAULTS");
        return summary;
    }

    private HostLossOptions options(Path work) {
        return new HostLossOptions(
                target.s3,
                course.rounds,
                course.seed,
                course.seconds,
                seconds(course.archiveAfter),
                seconds(course.allowance),
                target.documents,
                target.connections,
                target.rate,
                target.hardships(),
                target.lie,
                work);
    }

    private static Duration seconds(double seconds) {
        return Duration.ofMillis((long) (seconds * 1_000));
    }

    private void checkOptions() throws IOException {
        check(course.rounds >= 1, "--rounds must be 1 or more");
        check(course.seconds > 0, "--seconds must be above 0");
        check(course.archiveAfter >= 1, "--archive-after must be 1 or more");
        check(course.allowance >= 0, "--allowance must be 0 or more");
        check(target.connections >= 1, "--connections must be 1 or more");
        check(target.documents >= target.connections, "--documents must be at least as many as --connections");
        check(target.rate >= target.connections, "--rate must be at least as many as --connections");
        check(
                course.directory == null || Directories.missingOrEmpty(course.directory),
                "--dir must be missing or empty");
    }

    private void check(boolean holds, String message) {
        if (!holds && spec != null) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
