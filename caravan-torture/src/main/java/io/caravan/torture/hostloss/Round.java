package io.caravan.torture.hostloss;

import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Account;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The state and the methods that both halves of a round share, including the problems found so far. */
abstract class Round {
    static final String BUCKET = "caravan";
    static final String PREFIX = "drill/";

    final HostLossOptions options;
    final List<DocumentHistory> documents;
    final SplittableRandom random;
    final List<String> problems = new ArrayList<>();

    private final Bucket bucket;

    Round(HostLossOptions options, Bucket bucket, List<DocumentHistory> documents, SplittableRandom random) {
        this.options = options;
        this.bucket = bucket;
        this.documents = documents;
        this.random = random;
    }

    /**
     * Returns the command-line options that specify the location of the archive.
     *
     * @param endpoint the endpoint of the S3 server, or of the proxy in front of it
     */
    static List<String> archive(URI endpoint) {
        return S3Account.archive(BUCKET + "/" + PREFIX.substring(0, PREFIX.length() - 1), endpoint);
    }

    /** Returns a {@code caravan} command that consists of these words and the location of the archive. */
    final CaravanCommand command(String... words) {
        List<String> command = new ArrayList<>(List.of(words));
        command.addAll(archive(bucket.endpoint()));
        return new CaravanCommand(command, options.commandLog());
    }

    final void add(@Nullable String problem) {
        if (problem != null) {
            problems.add(problem);
        }
    }

    /** A {@code caravan} command that can be run several times, each time in a new process. */
    static final class CaravanCommand {
        private static final Duration TIMEOUT = Duration.ofMinutes(3);
        private static final long LONGEST_LIFE_MILLIS = 2_500;
        private static final int SHOWN_CHARS = 1_500;

        private final List<String> words;
        private final Path log;

        /**
         * Creates a command without running it.
         *
         * @param log receives the command's output; nothing else may write to it while the command runs
         */
        CaravanCommand(List<String> words, Path log) {
            this.words = words;
            this.log = log;
        }

        /** Runs the command until it exits; returns the problem, or null if it succeeds. */
        @Nullable
        String run() throws IOException {
            try (ChildJvm process = start()) {
                return problem(process);
            }
        }

        /**
         * Runs the command and kills it at a random moment.
         *
         * @return whether it was killed before it ended
         */
        boolean killed(SplittableRandom random) throws IOException, InterruptedException {
            try (ChildJvm process = start()) {
                TimeUnit.MILLISECONDS.sleep(random.nextLong(LONGEST_LIFE_MILLIS));
                return process.kill() == ChildJvm.KILLED;
            }
        }

        private ChildJvm start() throws IOException {
            return ChildJvm.start(ServerProcess.MAIN, words, S3Account.environment(), log);
        }

        private @Nullable String problem(ChildJvm process) throws IOException {
            int status = process.awaitExit(TIMEOUT);
            if (status == 0) {
                return null;
            }
            String output = process.output().strip();
            return "`caravan " + String.join(" ", words) + "` ended with status " + status + " and printed:" + " "
                    + output.substring(Math.max(0, output.length() - SHOWN_CHARS));
        }
    }
}
