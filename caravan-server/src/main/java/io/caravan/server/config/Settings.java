package io.caravan.server.config;

import io.caravan.io.FileStorage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * Reads the values of a command's options from the environment ({@code CARAVAN_MAX_VALUE} for {@code --max-value})
 * or, failing that, from the file named by {@code --config} ({@code max-value}). The command line overrides both. An
 * option that is not set has its default value.
 */
public final class Settings implements IDefaultValueProvider {
    /** The option that names the configuration file. The file itself cannot set this option. */
    public static final String CONFIG_OPTION = "--config";

    private static final String VARIABLE_PREFIX = "CARAVAN_";
    private static final Set<String> NOT_IN_FILE =
            Set.of(CONFIG_OPTION, "--print-config", "--json", "--help", "--version");

    private final Map<String, String> environment;
    private @Nullable Path file;
    private Map<String, String> fileValues = Map.of();

    public Settings(Map<String, String> environment) {
        this.environment = Map.copyOf(environment);
    }

    public Map<String, String> environment() {
        return environment;
    }

    @Override
    public @Nullable String defaultValue(ArgSpec argument) {
        if (!(argument instanceof OptionSpec option) || notASetting(option)) {
            return null;
        }
        readFile(argument.command());
        String value = environment.get(variable(option));
        return value != null ? value : fileValues.get(fileName(option));
    }

    /** Whether the option is an action, such as {@code --help}, rather than a setting. */
    public static boolean notASetting(OptionSpec option) {
        return NOT_IN_FILE.contains(option.longestName());
    }

    /** Describes the source of the value of an option that is not set on the command line. */
    public String source(OptionSpec option) {
        if (environment.containsKey(variable(option))) {
            return "environment " + variable(option);
        }
        return fileValues.containsKey(fileName(option)) ? "file " + file : "default";
    }

    private static String variable(OptionSpec option) {
        return VARIABLE_PREFIX + fileName(option).replace('-', '_').toUpperCase(Locale.ROOT);
    }

    public static String fileName(OptionSpec option) {
        return option.longestName().substring(2);
    }

    private void readFile(CommandSpec command) {
        Path named = named(command);
        if (named == null || named.equals(file)) {
            return;
        }
        try {
            Map<String, String> values = UserFiles.properties(named);
            checkNames(command, named, values.keySet());
            file = named;
            fileValues = values;
        } catch (IOException unreadable) {
            throw new ParameterException(command.commandLine(), FileStorage.problem(unreadable), unreadable);
        }
    }

    private @Nullable Path named(CommandSpec command) {
        Path named = command.findOption(CONFIG_OPTION).getValue();
        String variable = environment.get(VARIABLE_PREFIX + "CONFIG");
        return named != null || variable == null ? named : Path.of(variable);
    }

    private static void checkNames(CommandSpec command, Path file, Set<String> names) {
        Set<String> known = command.options().stream()
                .filter(option -> !notASetting(option))
                .map(Settings::fileName)
                .collect(Collectors.toCollection(TreeSet::new));
        for (String name : names) {
            if (!known.contains(name)) {
                throw new ParameterException(
                        command.commandLine(),
                        file + ": there is no setting '" + name + "'; did you mean '" + nearest(name, known) + "'?");
            }
        }
    }

    /** Returns the candidates that the word may be a misspelling of, nearest first. */
    public static List<String> similar(String word, Collection<String> candidates) {
        int letters = word.replaceAll("^-+", "").length();
        int most = letters < 2 ? 0 : (letters + 2) / 3;
        return candidates.stream()
                .filter(candidate -> distance(word, candidate) <= most)
                .sorted(Comparator.comparingInt(candidate -> distance(word, candidate)))
                .toList();
    }

    /** Returns the candidate that is the fewest edits away from the word. */
    private static String nearest(String word, Collection<String> candidates) {
        return Collections.min(candidates, Comparator.comparingInt(candidate -> distance(word, candidate)));
    }

    /**
     * Returns the number of insertions, deletions, and substitutions of letters, and of swaps of neighboring letters,
     * from one word to another.
     */
    private static int distance(String from, String to) {
        int[][] edits = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    edits[i][j] = i + j;
                    continue;
                }
                int substituted = edits[i - 1][j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                edits[i][j] = Math.min(substituted, 1 + Math.min(edits[i - 1][j], edits[i][j - 1]));
                boolean swapped = i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1);
                edits[i][j] = swapped ? Math.min(edits[i][j], 1 + edits[i - 2][j - 2]) : edits[i][j];
            }
        }
        return edits[from.length()][to.length()];
    }
}
