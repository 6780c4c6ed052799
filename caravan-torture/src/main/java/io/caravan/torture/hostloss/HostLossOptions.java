package io.caravan.torture.hostloss;

import io.caravan.bench.s3.S3Software;
import io.caravan.torture.Evidence;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a host-loss drill, as a picocli mixin for the drill's command. */
final class HostLossOptions {
    @Option(
            names = "--s3",
            paramLabel = "SERVER",
            description = {
                "one of ${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}.",
                "moto needs python3 and its venv module, versitygw needs Go; each is installed once, next to this"
                        + " program"
            })
    S3Software s3 = S3Software.S3PROXY;

    @Option(
            names = "--faults",
            description = {
                "injects faults between the server and S3: errors, throttling, delays, closed connections; also kills"
                        + " (or stops, if a kill would lose its objects) and restarts the S3 server. A change must"
                        + " then be archived within --archive-after of S3's recovery; no reply may wait for the"
                        + " archive, and the server must report that the archive lags"
            })
    boolean faults;

    @Option(
            names = "--kill-restore",
            description = "kills `caravan restore` at random moments and restarts it until it completes")
    boolean killRestore;

    @Option(
            names = "--kill-prune",
            description = "runs `caravan archive prune` while the server runs, and kills it at random moments")
    boolean killPrune;

    @Option(
            names = "--lie",
            paramLabel = "LIE",
            description = "damages the archive before the restore, which must be detected: one of"
                    + " ${COMPLETION-CANDIDATES}")
    @Nullable
    Lie lie;

    @Option(names = "--documents", paramLabel = "N", description = "default ${DEFAULT-VALUE}")
    int documents = 100;

    @Option(names = "--connections", paramLabel = "N", description = "default ${DEFAULT-VALUE}")
    int connections = 4;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description =
                    "changes per second; the S3 server limits how many changes can be archived in time, so the rate"
                            + " does not show the limit of Caravan; default ${DEFAULT-VALUE}")
    int rate = 200;

    @Option(names = "--rounds", paramLabel = "N", description = "number of hosts to destroy; default ${DEFAULT-VALUE}")
    int rounds = 3;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            description =
                    "maximum time for which a server runs, in addition to --archive-after; default ${DEFAULT-VALUE}")
    double seconds = 8;

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

    /** The directory, set by {@link HostLossMain}, for stores, objects, and the output of processes. */
    Path directory = Path.of("");

    /** Returns the maximum age of an unarchived change, which is passed to the server. */
    Duration archiveAfter() {
        return Duration.ofMillis((long) (archiveAfter * 1_000));
    }

    /** Rejects options that are out of range. */
    void check(Evidence evidence) {
        evidence.check(rounds >= 1, "--rounds must be 1 or more");
        evidence.check(seconds > 0, "--seconds must be above 0");
        evidence.check(archiveAfter >= 1, "--archive-after must be 1 or more");
        evidence.check(allowance >= 0, "--allowance must be 0 or more");
        evidence.check(connections >= 1, "--connections must be 1 or more");
        evidence.check(documents >= connections, "--documents must be at least as many as --connections");
        evidence.check(rate >= connections, "--rate must be at least as many as --connections");
    }

    /** Returns the age, in nanoseconds, by which a change must be in the archive. */
    long boundNanos() {
        return Duration.ofMillis((long) ((archiveAfter + allowance) * 1_000)).toNanos();
    }

    /** Returns the store directory of the server in this round. */
    Path data(int round) {
        return directory.resolve("data-" + round);
    }

    /** Returns the file that receives the output of the servers. */
    Path log() {
        return directory.resolve("servers.log");
    }

    /** Returns the file that receives the output of other commands. */
    Path commandLog() {
        return directory.resolve("commands.log");
    }
}
