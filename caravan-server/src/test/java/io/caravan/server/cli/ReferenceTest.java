package io.caravan.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.common.Console;
import io.caravan.server.config.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Generates parts of the reference pages from the commands, and compares them with the pages. The generated parts are
 * between comments. With {@code -Dcaravan.write-docs=true}, this test rewrites them.
 */
class ReferenceTest {
    private static final Path COMMANDS = Path.of("../docs/reference/cli.md");
    private static final Path SETTINGS = Path.of("../docs/reference/configuration.md");

    private static final Pattern GENERATED =
            Pattern.compile("(<!-- generated: ([^>]+) -->\n)(.*?)(<!-- end of the generated part -->)", Pattern.DOTALL);
    /** Text to format as code: options, environment variables, commands, JSON, URLs, and literal values. */
    private static final Pattern CODE = Pattern.compile("(?<![\\w`-])--[a-z][a-z0-9-]*(?:"
            + " (?:json|off|none))?|CARAVAN_[A-Z0-9_]+(?:=true)?|\\{\"[^}]*}|'(caravan"
            + " [^']*|[-_.])'|(?:https?|s3|rediss?)://[^\\s,;)]*[^\\s,;:).]"
            + "|\\bfile:DIR\\b|\\b[a-z]+-[a-z]+(?:-[a-z]+)*=[^\\s,]+|(?<![\\w`*])\\*(?![\\w*])|\\[a-z]|\"[a-zA-Z]+\"");

    private static final Pattern LISTED = Pattern.compile("  ([a-z-]+) +(.*)");
    private static final int COLUMNS = 120;

    /** Commands without a section in the reference: those that only group subcommands, or that print help. */
    private static final Set<String> WITHOUT_SECTION =
            Set.of("cluster", "cluster help", "space", "space help", "generate-completion", "help");

    private final CommandLine caravan = Main.commandLine(Map.of(), Console.system());

    @Test
    void commandReferenceMatchesCommands() throws IOException {
        Set<String> common = options(command("rm"));
        Map<String, String> parts = new LinkedHashMap<>();
        commands(caravan, "")
                .filter(name -> !WITHOUT_SECTION.contains(name))
                .forEach(name -> parts.put(name, section(name, common)));
        parts.put("common options", table("option", command("rm").options().stream()));
        parts.put("exit codes", exitCodes(command("rm").usageMessage().exitCodeList()));
        compare(COMMANDS, parts);
    }

    @Test
    void settingReferenceMatchesOptions() throws IOException {
        Map<String, String> parts = new LinkedHashMap<>();
        command("serve").mixins().forEach((group, mixin) -> {
            List<OptionSpec> settings = mixin.options().stream()
                    .filter(option -> !Settings.notASetting(option))
                    .toList();
            if (!settings.isEmpty()) {
                parts.put(group, settings(settings));
            }
        });
        compare(SETTINGS, parts);
    }

    private static void compare(Path page, Map<String, String> parts) throws IOException {
        String text = Files.readString(page);
        List<String> found = new ArrayList<>();
        String generated = GENERATED.matcher(text).replaceAll(part -> {
            found.add(part.group(2));
            String content = parts.getOrDefault(part.group(2), "there is no such part\n");
            return Matcher.quoteReplacement(part.group(1) + "\n" + content + "\n" + part.group(4));
        });
        assertThat(found).as("parts of " + page).containsExactlyInAnyOrderElementsOf(parts.keySet());
        if (Boolean.getBoolean("caravan.write-docs")) {
            Files.writeString(page, generated);
        } else {
            assertThat(text)
                    .as(page + ", which -Dcaravan.write-docs=true rewrites")
                    .isEqualTo(generated);
        }
    }

    /** Returns the names of all commands, such as {@code get} and {@code space set}. */
    private static Stream<String> commands(CommandLine parent, String prefix) {
        return parent.getSubcommands().entrySet().stream()
                .flatMap(entry -> Stream.concat(
                        Stream.of(prefix + entry.getKey()), commands(entry.getValue(), prefix + entry.getKey() + " ")));
    }

    private CommandSpec command(String name) {
        CommandLine command = caravan;
        for (String word : name.split(" ")) {
            command = command.getSubcommands().get(word);
        }
        return command.getCommandSpec();
    }

    private static Set<String> options(CommandSpec command) {
        return command.options().stream().map(OptionSpec::longestName).collect(Collectors.toCollection(HashSet::new));
    }

    private String section(String name, Set<String> common) {
        CommandSpec command = command(name);
        Set<String> omitted = new HashSet<>(common);
        if (name.equals("serve") || name.equals("doctor")) {
            omitted.addAll(options(command("serve")));
            omitted.removeAll(Set.of("--config", "--print-config"));
        }
        List<PositionalParamSpec> parameters = command.positionalParameters();
        StringBuilder text = new StringBuilder("### `" + name);
        parameters.forEach(parameter -> text.append(' ').append(label(parameter)));
        text.append("`\n\n").append(description(List.of(command.usageMessage().description())));
        Stream<? extends ArgSpec> own =
                command.options().stream().filter(option -> !omitted.contains(option.longestName()));
        String table = table("argument", Stream.concat(parameters.stream(), own));
        text.append(table.isEmpty() ? "" : "\n" + table);
        Map<String, String> codes = command.usageMessage().exitCodeList();
        if (!codes.isEmpty() && !codes.equals(command("rm").usageMessage().exitCodeList())) {
            text.append('\n').append(exitCodes(codes));
        }
        return text.toString();
    }

    private static String label(PositionalParamSpec parameter) {
        String label = parameter.paramLabel() + (parameter.arity().max() > 1 ? "..." : "");
        return parameter.required() ? label : "[" + label + "]";
    }

    /** Formats texts that consist of a word and its meaning as rows of a table, and all others as paragraphs. */
    private static String description(List<String> texts) {
        StringBuilder description = new StringBuilder();
        boolean listing = false;
        for (String text : texts.stream().filter(each -> !each.isEmpty()).toList()) {
            Matcher listed = LISTED.matcher(text);
            if (listed.matches()) {
                description.append(listing ? "" : "\n| setting | meaning |\n|---|---|\n");
                description.append(row(listed.group(1), formatted(listed.group(2))));
                listing = true;
            } else {
                description.append(description.length() == 0 ? "" : "\n").append(wrapped(formatted(text)));
                listing = false;
            }
        }
        return description.toString();
    }

    private static String table(String kind, Stream<? extends ArgSpec> arguments) {
        String rows = arguments
                .map(argument -> row(
                        argument instanceof OptionSpec option ? named(option) : argument.paramLabel(),
                        formatted(String.join(" ", argument.description())) + standard(argument)))
                .collect(Collectors.joining());
        return rows.isEmpty() ? "" : "| " + kind + " | meaning |\n|---|---|\n" + rows;
    }

    private static String named(OptionSpec option) {
        return option.longestName() + (option.arity().min() == 0 ? "" : " " + option.paramLabel());
    }

    /** Returns a sentence with the default value, or an empty string if the option has none. */
    private static String standard(ArgSpec argument) {
        String value = argument.defaultValue();
        value = value == null ? "" : value.replaceFirst("^\\$\\{env:\\w+(?::-(.*))?}$", "$1");
        return value.isEmpty() || value.equals("false") ? "" : " Default: `" + value + "`.";
    }

    private static String settings(Collection<OptionSpec> settings) {
        return "| setting | default | meaning |\n|---|---|---|\n"
                + settings.stream()
                        .map(option -> row(
                                option.longestName(),
                                (option.defaultValue() == null ? "none" : "`" + option.defaultValue() + "`") + " | "
                                        + formatted(String.join(" ", option.description()))))
                        .collect(Collectors.joining());
    }

    private static String exitCodes(Map<String, String> codes) {
        StringBuilder table = new StringBuilder("| exit code | meaning |\n|---|---|\n");
        codes.forEach((code, meaning) -> table.append("| " + code + " | " + formatted(meaning) + " |\n"));
        return table.toString();
    }

    private static String row(String name, String meaning) {
        return "| `" + name.replace("|", "\\|") + "` | " + meaning + " |\n";
    }

    /** Puts code in backticks and escapes the characters that are special in a Markdown table. */
    private static String formatted(String text) {
        return CODE.matcher(text)
                .replaceAll(code ->
                        Matcher.quoteReplacement("`" + (code.group(1) == null ? code.group() : code.group(1)) + "`"));
    }

    private static String wrapped(String paragraph) {
        StringBuilder lines = new StringBuilder();
        int length = 0;
        for (String word : paragraph.split(" ")) {
            if (length > 0 && length + 1 + word.length() > COLUMNS) {
                lines.append('\n');
                length = 0;
            }
            lines.append(length == 0 ? "" : " ").append(word);
            length += (length == 0 ? 0 : 1) + word.length();
        }
        return lines.append('\n').toString();
    }
}
