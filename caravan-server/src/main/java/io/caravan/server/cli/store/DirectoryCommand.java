package io.caravan.server.cli.store;

import io.caravan.Shards;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.common.VersionProvider;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Spec;

/** The base of all commands for a store's directory. */
@Command(
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        sortOptions = false,
        footerHeading = "%nExamples:%n")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
abstract class DirectoryCommand implements Callable<Integer> {
    /** The exit code if the store is damaged. */
    protected static final int DAMAGED = CommandLine.ExitCode.SOFTWARE;

    @Spec
    private CommandLine.Model.CommandSpec spec;

    protected final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    protected final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    /** Shows the command's progress every two seconds until it is closed. */
    protected final Progress showProgress(Console console, Supplier<String> step) {
        return Progress.ticking(err(), console.showsProgress(), step);
    }

    /** Returns the directory, which must be that of one store, not of several shards. */
    protected final Path oneStore(Path directory) {
        List<Path> folders = Shards.folders(directory);
        check(
                folders.size() == 1,
                directory + " has " + folders.size()
                        + " groups, each of which is a store: name the folder of one, such as " + folders.get(0));
        return directory;
    }

    protected final void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new CommandLine.ParameterException(spec.commandLine(), otherwise);
        }
    }
}
