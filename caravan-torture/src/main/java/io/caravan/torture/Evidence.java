package io.caravan.torture;

import io.caravan.bench.WorkDirectories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Defines the options of a program that searches for faults: its seed, and the directory for its findings. A picocli
 * mixin for the program's command.
 */
public final class Evidence {
    @Option(names = "--seed", paramLabel = "S", description = "seed of everything random; default: the time, printed")
    private long seed = System.currentTimeMillis();

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description = "working directory; must be missing or empty; default: a temporary directory, deleted on"
                    + " success")
    private @Nullable Path directory;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    public long seed() {
        return seed;
    }

    /** Rejects the arguments of the command with this message unless the condition holds. */
    public void check(boolean holds, String otherwise) {
        if (!holds && command != null) {
            throw new ParameterException(command.commandLine(), otherwise);
        }
    }

    /** A search for faults, which uses an existing directory and returns true if it finds none. */
    public interface Search {
        boolean clean(Path work) throws IOException, InterruptedException;
    }

    /** Runs the search and returns the exit status. Keeps a temporary directory only if the search finds a fault. */
    public int run(Search search) throws IOException, InterruptedException {
        check(directory == null || WorkDirectories.missingOrEmpty(directory), "--dir must be missing or empty");
        Path work = directory == null
                ? Files.createTempDirectory("caravan-" + (command == null ? "bench" : command.name()))
                : Files.createDirectories(directory);
        if (!search.clean(work)) {
            System.out.println("All files of this run, and the output of its processes, are kept in " + work);
            return 1;
        }
        if (directory == null) {
            WorkDirectories.delete(work);
        }
        return 0;
    }
}
