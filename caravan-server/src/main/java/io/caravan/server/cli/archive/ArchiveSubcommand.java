package io.caravan.server.cli.archive;

import io.caravan.server.archive.Archive;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The base class of the subcommands of {@code archive}. */
abstract class ArchiveSubcommand extends CliCommand {
    private static final int LAST = ArchivePlace.ORDER + 1;
    private static final int MAX_JOBS = 256;

    @Mixin
    private ArchivePlace place;

    @Option(
            names = "--jobs",
            order = LAST - 2,
            paramLabel = "N",
            defaultValue = "16",
            description = "Number of documents to process at a time.")
    private int jobs;

    @Mixin
    private Format format;

    @Override
    protected final void run(Output output) throws IOException {
        check(jobs >= 1 && jobs <= MAX_JOBS, "--jobs must be from 1 to " + MAX_JOBS);
        checkOptions();
        try (ObjectStore objects = place.open()) {
            exitWith(run(Archive.open(objects), output));
            output.flush();
        }
    }

    /** Checks the command's own options before anything is opened. */
    void checkOptions() {}

    abstract int run(Archive archive, Output output) throws IOException;

    final int jobs() {
        return jobs;
    }
}
