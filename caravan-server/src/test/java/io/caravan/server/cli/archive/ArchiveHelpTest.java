package io.caravan.server.cli.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.common.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The help and the document about the archive commands, compared with the commands that exist. */
class ArchiveHelpTest {
    static final List<String> COMMANDS = List.of("ls", "verify", "prune");

    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z0-9-]*");
    private static final Pattern EXAMPLE = Pattern.compile("caravan archive ([a-z].*)");

    private static CommandLine archive() {
        return ArchiveCommand.commands(Console.system()).setCaseInsensitiveEnumValuesAllowed(true);
    }

    private static CommandSpec command(String name) {
        return archive().getSubcommands().get(name).getCommandSpec();
    }

    private static Set<String> options(String name) {
        return command(name).options().stream()
                .map(OptionSpec::longestName)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns the options that all of these commands have. */
    private static Set<String> common() {
        Set<String> common = options("ls");
        COMMANDS.forEach(name -> common.retainAll(options(name)));
        return common;
    }

    @Test
    void theseAreTheCommands() {
        assertThat(archive().getSubcommands().keySet()).containsExactlyElementsOf(COMMANDS);
    }

    @ParameterizedTest
    @FieldSource("COMMANDS")
    void examplesCanBeCalled(String name) {
        List<String> examples = List.of(command(name).usageMessage().footer());
        assertThat(examples).hasSizeGreaterThanOrEqualTo(2);
        for (String example : examples) {
            Matcher call = EXAMPLE.matcher(example);
            assertThat(call.find()).as(example).isTrue();
            assertThat(archive().parseArgs(call.group(1).split(" +")).errors())
                    .as(example)
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @FieldSource("COMMANDS")
    void helpTellsOptionsExitCodesAndExamples(String name) {
        String help = archive().getSubcommands().get(name).getUsageMessage();
        assertThat(help).contains("Usage: archive " + name, "Exit codes:", "Examples:", "CARAVAN_ARCHIVE");
    }

    /** The document needs a section for each command, with exactly the options of that command. */
    @Test
    void theDocumentListsTheCommandsAndTheirOptions() throws IOException {
        String document = Files.readString(Path.of("../docs/reference/cli.md"));
        for (String name : COMMANDS) {
            Set<String> own = options(name);
            own.removeAll(common());
            assertThat(named(section(document, "### `archive " + name)))
                    .as(name)
                    .containsExactlyElementsOf(own);
        }
        assertThat(named(section(document, "### Options of all archive commands")))
                .containsExactlyElementsOf(common());
    }

    private static String section(String document, String heading) {
        int start = document.indexOf(heading);
        assertThat(start).as(heading).isNotNegative();
        int end = document.indexOf("\n##", start);
        return end < 0 ? document.substring(start) : document.substring(start, end);
    }

    private static Set<String> named(String text) {
        return OPTION.matcher(text).results().map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));
    }
}
