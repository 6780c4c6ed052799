package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.CaravanException;
import io.caravan.catalog.DocumentName;
import io.caravan.io.FileStorage;
import io.caravan.server.cli.archive.ArchiveCommand;
import io.caravan.server.cli.archive.RestoreCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.cluster.ClusterCommand;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.CliCommand.VersionProvider;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.HelpCommand;
import io.caravan.server.cli.document.AppendCommand;
import io.caravan.server.cli.document.GetCommand;
import io.caravan.server.cli.document.ListCommand;
import io.caravan.server.cli.document.RemoveCommand;
import io.caravan.server.cli.document.StatCommand;
import io.caravan.server.cli.document.TailCommand;
import io.caravan.server.cli.document.TrimCommand;
import io.caravan.server.cli.migration.CopyCommand;
import io.caravan.server.cli.migration.ExportCommand;
import io.caravan.server.cli.migration.ImportCommand;
import io.caravan.server.cli.migration.MoveCommand;
import io.caravan.server.cli.operate.BackupCommand;
import io.caravan.server.cli.operate.CheckCommand;
import io.caravan.server.cli.operate.TopCommand;
import io.caravan.server.cli.serve.DoctorCommand;
import io.caravan.server.cli.serve.ServeCommand;
import io.caravan.server.cli.space.SpaceCommand;
import io.caravan.server.cli.store.DumpCommand;
import io.caravan.server.cli.store.LogCommand;
import io.caravan.server.cli.store.RepairCommand;
import io.caravan.server.cli.store.SalvageCommand;
import io.caravan.server.cli.store.VerifyCommand;
import io.caravan.server.cli.support.SupportCommand;
import io.caravan.server.config.Settings;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code caravan} command. Exit codes: 0 success, 1 failure, 2 wrong usage, 3 unexpected state of a document. */
@Command(
        name = "caravan",
        description = "A durable store of append-only lists, one per document.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
public final class Main {

    /** Options that set an address, or a part of an address, in other programs. */
    private static final Set<String> PARTS_OF_ADDRESSES =
            Set.of("--port", "-p", "--host", "--address", "--listen", "--bind", "--url");

    /** The message with which picocli reports a missing subcommand. */
    private static final String MISSING_SUBCOMMAND = "Missing required subcommand";

    private static final Set<String> ADDRESSES = Set.of("HOST:PORT", "ADDRESS", "PORT");

    private Main() {}

    public static void main(String[] args) {
        // To find leaks, Netty would record the stack of every 128th buffer, which takes processor time.
        if (System.getProperty("io.netty.leakDetectionLevel") == null) {
            System.getProperties().putIfAbsent("io.netty.leakDetection.level", "disabled");
        }
        System.exit(commandLine(System.getenv(), Console.system(), args).execute(args));
    }

    /**
     * Builds the command line for this console. To start faster, it contains only the command that the arguments name.
     * It contains all commands if the arguments name none of them, for example because of a typing error, or need all
     * of them, as help does.
     */
    public static CommandLine commandLine(Map<String, String> environment, Console console, String... args) {
        Settings settings = new Settings(environment);
        CommandLine caravan = new CommandLine(new Main());
        List<Object> all = List.of(
                new ServeCommand(settings),
                new DoctorCommand(settings),
                new VerifyCommand(),
                new RepairCommand(),
                new SalvageCommand(),
                new DumpCommand(),
                new LogCommand(),
                new AppendCommand(),
                new GetCommand(),
                new TailCommand(),
                new TrimCommand(),
                new RemoveCommand(),
                new ListCommand(),
                new StatCommand(),
                new CheckCommand(),
                new TopCommand(),
                new SupportCommand(),
                new BackupCommand(),
                new ExportCommand(),
                new ImportCommand(),
                new CopyCommand(),
                new MoveCommand(),
                new ArchiveCommand(),
                new ClusterCommand(),
                new SpaceCommand(),
                new RestoreCommand(),
                new GenerateCompletion(),
                new HelpCommand());
        List<Object> named = all.stream()
                .filter(command -> args.length > 0 && isNamed(command, args[0]))
                .toList();
        for (Object command : named.isEmpty() ? all : named) {
            CommandLine added = new CommandLine(command);
            if (command instanceof ServeCommand || command instanceof DoctorCommand) {
                GroupedHelp.install(added.setDefaultValueProvider(settings));
            }
            caravan.addSubcommand(added);
        }
        CliCommand.setConsole(caravan, console);
        return caravan.setCaseInsensitiveEnumValuesAllowed(true)
                // A writer over System.out would not detect errors, because System.out swallows them.
                .setOut(new PrintWriter(console.out(), true, UTF_8))
                .setExecutionStrategy(Main::run)
                .setParameterExceptionHandler((wrong, given) -> correct(wrong, given, settings))
                .setExecutionExceptionHandler(Main::explain);
    }

    /**
     * Runs the last subcommand, and checks that its result was written. Some commands write to a {@link PrintWriter},
     * which sets an error flag instead of throwing an exception. The others write to the console's stream, which throws
     * exceptions. The messages of a running server do not count as a result.
     */
    private static int run(CommandLine.ParseResult parsed) {
        int exitCode = new CommandLine.RunLast().execute(parsed);
        CommandLine.ParseResult last = parsed;
        while (last.hasSubcommand()) {
            last = last.subcommand();
        }
        CommandLine command = last.commandSpec().commandLine();
        if (last.commandSpec().userObject() instanceof ServeCommand serve && serve.served()
                || !command.getOut().checkError()) {
            return exitCode;
        }
        command.getErr().println("caravan: the output cannot be written");
        return exitCode == CommandLine.ExitCode.OK ? CommandLine.ExitCode.SOFTWARE : exitCode;
    }

    private static int correct(ParameterException wrong, String[] args, Settings settings) {
        CommandLine command = wrong.getCommandLine();
        String problem = MISSING_SUBCOMMAND.equals(wrong.getMessage())
                ? "name a subcommand: "
                        + String.join(", ", command.getSubcommands().keySet())
                : printable(wrong) + source(wrong, args, settings) + suggestion(wrong);
        command.getErr()
                .println("caravan: " + problem + " (see "
                        + command.getCommandSpec().qualifiedName() + " --help)");
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    /**
     * Returns a phrase that names the source of the wrong value, or an empty string if the value is on the command
     * line.
     */
    private static String source(ParameterException wrong, String[] args, Settings settings) {
        if (!(wrong.getArgSpec() instanceof OptionSpec option)
                || Stream.of(args).anyMatch(arg -> arg.startsWith(option.longestName()))) {
            return "";
        }
        return ", from " + settings.source(option);
    }

    private static boolean isNamed(Object command, String name) {
        Command declared = command.getClass().getAnnotation(Command.class);
        return !(command instanceof HelpCommand || command instanceof GenerateCompletion)
                && (declared.name().equals(name) || List.of(declared.aliases()).contains(name));
    }

    /**
     * Suggests the known command or option that is most similar to a mistyped one. If other programs use the option for
     * a part of an address, names the options that set addresses instead.
     */
    private static String suggestion(ParameterException wrong) {
        if (!(wrong instanceof UnmatchedArgumentException unknown)
                || unknown.getUnmatched().isEmpty()) {
            return "";
        }
        CommandLine.Model.CommandSpec command = wrong.getCommandLine().getCommandSpec();
        String word = unknown.getUnmatched().get(0).split("=", 2)[0];
        if (PARTS_OF_ADDRESSES.contains(word)) {
            List<String> addresses = command.options().stream()
                    .filter(option -> ADDRESSES.contains(option.paramLabel()))
                    .map(OptionSpec::longestName)
                    .toList();
            if (!addresses.isEmpty()) {
                return "; an address is set with " + String.join(" or ", addresses);
            }
        }
        Collection<String> known = word.startsWith("-")
                ? command.optionsMap().keySet()
                : command.subcommands().keySet();
        List<String> similar = Settings.similar(word, known);
        if (similar.isEmpty()) {
            similar = unknown.getSuggestions();
        }
        return similar.isEmpty() ? "" : "; did you mean '" + similar.get(0) + "'?";
    }

    /** Escapes control characters in a message, which may quote a document name or another argument. */
    private static String printable(Exception problem) {
        return DocumentName.printable(String.valueOf(problem.getMessage()));
    }

    /**
     * Prints a problem on one line if a user can solve it; any other problem is a bug, and is printed with its stack
     * trace.
     */
    private static int explain(Exception problem, CommandLine commandLine, CommandLine.ParseResult result)
            throws Exception {
        String message = printable(problem);
        int exitCode = CommandLine.ExitCode.SOFTWARE;
        if (problem instanceof ClientException failure) {
            exitCode = failure.kind().exitCode();
        } else if (problem instanceof IOException failed) {
            message = DocumentName.printable(FileStorage.problem(failed));
        } else if (!(problem instanceof CaravanException || problem instanceof ServerConnection.LostException)) {
            throw problem;
        }
        commandLine.getErr().println("caravan: " + message);
        return exitCode;
    }

    /** Groups the options in a command's help by the mixins that define them. */
    private static final class GroupedHelp implements IHelpSectionRenderer {
        private static final String STANDARD = "mixinStandardHelpOptions";

        static void install(CommandLine command) {
            command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, new GroupedHelp());
        }

        @Override
        public String render(Help help) {
            StringBuilder text = new StringBuilder();
            for (Map.Entry<String, CommandSpec> group :
                    help.commandSpec().mixins().entrySet()) {
                String heading = group.getKey().equals(STANDARD) ? "Help" : group.getKey();
                text.append(System.lineSeparator()).append(heading).append(':').append(System.lineSeparator());
                text.append(options(help, group.getValue().options()));
            }
            return text.toString();
        }

        private static String options(Help help, List<OptionSpec> options) {
            Help.Layout layout = help.createDefaultLayout();
            layout.addOptions(options, help.parameterLabelRenderer());
            return layout.toString();
        }
    }
}
