package io.caravan.server.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.Main;
import io.caravan.server.cli.common.Console;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Compares the help texts with the commands and options that exist. */
class HelpTest {
    static final List<String> COMMANDS = List.of(
            "append", "get", "tail", "trim", "rm", "ls", "stat", "check", "top", "support", "backup", "export",
            "import", "copy", "move", "archive", "restore");

    static final List<String> ARCHIVE_COMMANDS = List.of("archive ls", "archive verify", "archive prune");

    /** Commands that need no running server. They have their own documents and tests. */
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

    private static final Pattern EXAMPLE = Pattern.compile("caravan ([a-z-]+)(.*)");

    private static CommandLine caravan() {
        return Main.commandLine(Map.of(), Console.system());
    }

    @Test
    void listsExpectedCommands() {
        assertThat(caravan().getSubcommands().keySet())
                .filteredOn(name -> !OTHERS.contains(name))
                .containsExactlyElementsOf(COMMANDS);
        assertThat(caravan().getSubcommands().get("archive").getSubcommands().keySet())
                .extracting("archive "::concat)
                .containsExactlyElementsOf(ARCHIVE_COMMANDS);
    }

    @ParameterizedTest
    @FieldSource({"COMMANDS", "ARCHIVE_COMMANDS"})
    void everyCommandHasParsableExamples(String name) {
        CommandLine command = caravan();
        for (String word : name.split(" ")) {
            command = command.getSubcommands().get(word);
        }
        List<String> examples = List.of(command.getCommandSpec().usageMessage().footer());
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
    void helpShowsOptionsExitCodesAndExamples(String name) {
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

    @TestFactory
    Stream<DynamicTest> helpCommandPrintsHelpOfEveryCommand() {
        List<List<String>> commands = new ArrayList<>();
        collect(caravan(), List.of(), commands);
        assertThat(commands).contains(List.of(), List.of("get"), List.of("space", "set"), List.of("archive", "ls"));
        return commands.stream()
                .map(words -> DynamicTest.dynamicTest("caravan help " + String.join(" ", words), () -> {
                    String[] help = CommandRun.words(List.of("help"), words.toArray(String[]::new));
                    String expected = CommandRun.at(null, CommandRun.words(words, "--help"))
                            .out();
                    CommandRun.at(null, help).prints(expected);
                }));
    }

    private static void collect(CommandLine command, List<String> words, List<List<String>> to) {
        to.add(words);
        command.getSubcommands()
                .forEach((name, sub) -> collect(
                        sub, Stream.concat(words.stream(), Stream.of(name)).toList(), to));
    }

    @ParameterizedTest
    @ValueSource(strings = {"help nonsense", "help space nonsense", "help get extra", "space help nonsense"})
    void helpCommandRejectsUnknownCommand(String words) {
        CommandRun.at(null, words.split(" ")).exits(2, "there is no command '");
    }

    @Test
    void generatesShellCompletion() {
        assertThat(CommandRun.at(null, "generate-completion").succeeds().out())
                .contains("complete -F", "append", "--if-sequence");
    }
}
