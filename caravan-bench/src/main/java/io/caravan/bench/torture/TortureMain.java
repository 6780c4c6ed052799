package io.caravan.bench.torture;

import io.caravan.DurableListStore;
import io.caravan.VerifyReport;
import io.caravan.bench.Directories;
import io.caravan.bench.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code scripts/torture}: kills a working store again and again, and checks what it kept. */
@Command(
        name = "torture",
        mixinStandardHelpOptions = true,
        description = {
            "Kills a working store with SIGKILL, again and again, and checks each time that every acknowledged change"
                    + " is there, in order, with the right bytes, and nothing that was never sent.",
            "A child process writes; this one keeps the record. Prints a line a round; exits with 1 at the first"
                    + " failure, says all it knows, and keeps the directory.",
            "The seed decides what each thread does and when the kill comes; how threads interleave it cannot decide."
        },
        footer = {"", "Example: torture --rounds 200 --seed 7 --dir /mnt/disk/torture"})
public final class TortureMain implements Callable<Integer> {
    private static final int MAX_WORKERS = 100;

    @Option(names = "--rounds", paramLabel = "N", description = "rounds to run; default ${DEFAULT-VALUE}")
    private int rounds = 20;

    @Option(names = "--seed", paramLabel = "S", description = "seed of everything random; default: the time, printed")
    private long seed = System.currentTimeMillis();

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description = "where to work: missing or empty; default: a temporary directory, deleted on success")
    private @Nullable Path directory;

    @Option(
            names = "--seconds-per-round",
            paramLabel = "SECONDS",
            description = "longest time from open to kill; default ${DEFAULT-VALUE}")
    private double secondsPerRound = 1.5;

    @Option(names = "--workers", paramLabel = "N", description = "writing threads; default ${DEFAULT-VALUE}")
    private int workers = 4;

    @Option(names = "--lists", paramLabel = "N", description = "lists they write to; default ${DEFAULT-VALUE}")
    private int lists = 240;

    @Spec
    private @Nullable CommandSpec spec;

    public static void main(String[] arguments) {
        System.exit(Programs.run(new TortureMain(), arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkOptions();
        Path work = directory == null ? Files.createTempDirectory("caravan-torture") : directory;
        System.out.println("seed " + seed + ", " + rounds + " rounds in " + work);
        TortureSummary summary = new Torture(options(work), System.out).run();
        System.out.println(summary);
        if (!summary.clean()) {
            System.out.println(
                    "The store, a copy of it as the kill left it, and the children's output are kept in " + work);
            return 1;
        }
        if (directory == null) {
            Directories.delete(work);
        }
        return 0;
    }

    private TortureOptions options(Path work) {
        return new TortureOptions(
                rounds,
                seed,
                work,
                secondsPerRound,
                workers,
                lists,
                TortureChild.class.getName(),
                store -> DurableListStore.verify(store, VerifyReport.Progress.NONE));
    }

    private void checkOptions() throws IOException {
        check(rounds >= 1, "--rounds must be 1 or more");
        check(secondsPerRound > 0, "--seconds-per-round must be above 0");
        check(workers >= 1 && workers <= MAX_WORKERS, "--workers must be from 1 to " + MAX_WORKERS);
        check(lists >= workers, "--lists must be at least as many as --workers");
        check(directory == null || Directories.missingOrEmpty(directory), "--dir must be missing or empty");
    }

    private void check(boolean holds, String message) {
        if (!holds && spec != null) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
