package io.caravan.server.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.Main;
import io.caravan.server.cli.common.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The help and the documents, compared with the commands and options that exist. */
class HelpTest {
    static final List<String> COMMANDS = List.of(
            "append", "get", "tail", "trim", "rm", "ls", "stat", "check", "top", "support", "backup", "export",
            "import", "copy", "move", "archive", "restore");

    static final List<String> ARCHIVE_COMMANDS = List.of("archive ls", "archive verify", "archive prune");

    /** Commands without a server, which have their own documents and tests. */
    private static final List<String> OTHERS = List.of(
            "serve",
            "doctor",
            "verify",
            "repair",
            "salvage",
            "dump",
            "log",
            "cluster",
            "space",
            "generate-completion",
            "help");

    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z0-9-]*");
    private static final Pattern EXAMPLE = Pattern.compile("caravan ([a-z-]+)(.*)");

    private static CommandLine caravan() {
        return Main.commandLine(Map.of(), Console.system());
    }

    private static CommandSpec command(String name) {
        CommandLine command = caravan();
        for (String word : name.split(" ")) {
            command = command.getSubcommands().get(word);
        }
        return command.getCommandSpec();
    }

    private static Set<String> options(CommandSpec command) {
        return command.options().stream().map(OptionSpec::longestName).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theseAreTheCommands() {
        assertThat(caravan().getSubcommands().keySet())
                .filteredOn(name -> !OTHERS.contains(name))
                .containsExactlyElementsOf(COMMANDS);
        assertThat(command("archive").subcommands().keySet())
                .extracting("archive "::concat)
                .containsExactlyElementsOf(ARCHIVE_COMMANDS);
    }

    @ParameterizedTest
    @FieldSource({"COMMANDS", "ARCHIVE_COMMANDS"})
    void everyCommandHasExamplesThatCanBeCalled(String name) {
        List<String> examples = List.of(command(name).usageMessage().footer());
        assertThat(examples).hasSizeGreaterThanOrEqualTo(2).anyMatch(line -> line.contains("caravan " + name));
        for (String example : examples) {
            Matcher call = EXAMPLE.matcher(example);
            while (call.find()) {
                // A shell removes the quotes, and the text after a pipe or {@code >} belongs to another program.
                String[] words = call.group(2)
                        .replaceAll("[|>].*", "")
                        .replace("'", "")
                        .trim()
                        .split(" +");
                List<String> given = new ArrayList<>(List.of(words));
                given.removeIf(String::isEmpty);
                given.add(0, call.group(1));
                if (example.contains("xargs") && call.group(1).equals("rm")) {
                    given.add("name");
                }
                assertThat(caravan().parseArgs(given.toArray(String[]::new)).errors())
                        .as(example)
                        .isEmpty();
            }
        }
    }

    @ParameterizedTest
    @FieldSource({"COMMANDS", "ARCHIVE_COMMANDS"})
    void helpTellsOptionsExitCodesAndExamples(String name) {
        String help = CommandRun.at(null, CommandRun.words(List.of(name.split(" ")), "--help"))
                .succeeds()
                .out();
        assertThat(help)
                .contains("Usage: caravan " + name, "Exit codes:", "Examples:")
                .doesNotContain("--password=");
        assertThat(help)
                .contains(
                        name.startsWith("archive ")
                                ? List.of("CARAVAN_ARCHIVE")
                                : List.of("--password-file", "CARAVAN_PASSWORD"));
    }

    /** Commands whose sections in the document are written by hand; {@code ReferenceTest} generates the others. */
    private static final List<String> BY_HAND =
            List.of("support", "export", "import", "copy", "move", "archive", "restore");

    @Test
    void theDocumentListsTheOptionsOfTheOtherCommands() throws IOException {
        String document = Files.readString(Path.of("../docs/reference/cli.md")).split("\n## Commands on archives")[0];
        Set<String> common = options(command("rm"));
        for (String name : BY_HAND) {
            Matcher heading = Pattern.compile("(?m)^### `" + name + "[ `]").matcher(document);
            assertThat(heading.find()).as(name).isTrue();
            Set<String> own = options(command(name));
            own.removeAll(common);
            assertThat(named(section(document, heading.end()))).as(name).containsExactlyElementsOf(own);
        }
    }

    @Test
    void theDocumentListsTheArchiveCommandsAndTheirOptions() throws IOException {
        String document = Files.readString(Path.of("../docs/reference/cli.md"));
        Set<String> common = options(command("archive ls"));
        ARCHIVE_COMMANDS.forEach(name -> common.retainAll(options(command(name))));
        assertThat(named(section(document, start(document, "### Options of all archive commands"))))
                .containsExactlyElementsOf(common);
        for (String name : ARCHIVE_COMMANDS) {
            Set<String> own = options(command(name));
            own.removeAll(common);
            assertThat(named(section(document, start(document, "### `" + name))))
                    .as(name)
                    .containsExactlyElementsOf(own);
        }
    }

    private static int start(String document, String heading) {
        assertThat(document).contains(heading);
        return document.indexOf(heading) + heading.length();
    }

    private static String section(String document, int start) {
        int end = document.indexOf("\n##", start);
        return end < 0 ? document.substring(start) : document.substring(start, end);
    }

    private static Set<String> named(String text) {
        return OPTION.matcher(text)
                .results()
                .map(found -> found.group())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void aShellCanCompleteTheCommands() {
        assertThat(CommandRun.at(null, "generate-completion").succeeds().out())
                .contains("complete -F", "append", "--if-sequence");
    }
}
