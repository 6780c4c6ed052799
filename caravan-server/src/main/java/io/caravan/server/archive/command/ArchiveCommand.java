package io.caravan.server.archive.command;

import io.caravan.server.cli.Console;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The commands about an archive. */
@Command(
        name = "archive",
        description = "Looks into an archive, verifies it, and removes from it what is not needed any more."
                + " A server archives by itself, see 'caravan serve --help'.",
        sortOptions = false,
        footerHeading = "%nExamples:%n",
        footer = {
            "  caravan archive ls --archive file:archive",
            "  caravan archive verify --archive s3://bucket/prefix",
            "  caravan archive prune --archive s3://bucket/prefix --keep 3 --keep-days 7 --dry-run"
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ArchiveCommand implements Callable<Integer> {
    @Spec
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    private boolean help;

    private ArchiveCommand() {}

    /** The command and those below it. */
    public static CommandLine commandLine(Console console) {
        return new CommandLine(new ArchiveCommand())
                .addSubcommand(new ArchiveListCommand(console))
                .addSubcommand(new ArchiveVerifyCommand(console))
                .addSubcommand(new ArchivePruneCommand(console));
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "say what to do with the archive: ls, verify or prune");
    }
}
