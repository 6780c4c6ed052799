package io.caravan.server.cli.store;

import io.caravan.Shards;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.common.VersionProvider;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The base class of commands that work on a store's directory. */
@Command(mixinStandardHelpOptions = true, versionProvider = VersionProvider.class)
abstract class DirectoryCommand extends CliCommand {
    /** The exit code if the store is damaged. */
    protected static final int DAMAGED = CommandLine.ExitCode.SOFTWARE;

    /** Shows the command's progress every two seconds until the returned object is closed. */
    protected final Progress showProgress(Supplier<String> step) {
        return Progress.ticking(err(), console().showsProgress(), step);
    }

    /** Returns the directory after checking that it contains one store, not several shards. */
    protected final Path oneStore(Path directory) {
        List<Path> stores = Shards.directories(directory);
        check(
                stores.size() == 1,
                directory + " has " + stores.size()
                        + " shards, each of which is a store: name the directory of one, such as " + stores.get(0));
        return directory;
    }
}
