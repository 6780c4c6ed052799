package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Checks that every test, module, script, and option that {@code docs/internals/testing.md} names exists. */
class TestingDocumentTest {
    /** Matches the name of a test class, or a pattern for several names. */
    private static final Pattern TEST = Pattern.compile("\\b[A-Z][\\w*]*Test\\b");

    private static final Pattern MODULE = Pattern.compile("-pl (\\S+)");
    private static final Pattern SCRIPT = Pattern.compile("scripts/([\\w-]+)");
    private static final Pattern COMMAND = Pattern.compile("`scripts/([\\w-]+)([^`]*)`");
    private static final Pattern OPTION = Pattern.compile("--[\\w-]+");
    /** Matches the module that a script runs, and the package of the class whose options the script accepts. */
    private static final Pattern LAUNCHES = Pattern.compile("^launch (\\S+) (\\S+)\\.\\w+", Pattern.MULTILINE);

    private static Path root;
    private static String text;

    @BeforeAll
    static void read() throws IOException {
        Path here = Path.of("").toAbsolutePath();
        root = Files.isDirectory(here.resolve("docs")) ? here : here.getParent();
        text = Files.readString(root.resolve("docs/internals/testing.md"));
    }

    @Test
    void everyTestExists() throws IOException {
        Set<String> tests = new TreeSet<>();
        for (Path module : modules()) {
            for (Path source : javaFiles(module.resolve("src/test/java"))) {
                tests.add(source.getFileName().toString().replace(".java", ""));
            }
        }
        Set<String> missing = named(TEST, MatchResult::group);
        missing.removeIf(name -> tests.stream().anyMatch(asPattern(name).asMatchPredicate()));
        assertThat(missing).as("tests that do not exist").isEmpty();
    }

    private static Pattern asPattern(String name) {
        return Pattern.compile(name.replace("*", "\\w*"));
    }

    @Test
    void everyModuleExists() {
        assertThat(named(MODULE, match -> match.group(1)))
                .allSatisfy(module ->
                        assertThat(root.resolve(module).resolve("pom.xml")).exists());
    }

    @Test
    void everyScriptExists() {
        Set<String> missing = named(SCRIPT, match -> match.group(1));
        missing.removeIf(name -> Files.isExecutable(root.resolve("scripts").resolve(name)));
        assertThat(missing).as("scripts that do not exist").isEmpty();
    }

    @Test
    void everyScriptOptionExists() throws IOException {
        Set<String> unknown = new TreeSet<>();
        for (MatchResult command : matches(COMMAND)) {
            Set<String> options = OPTION.matcher(command.group(2))
                    .results()
                    .map(MatchResult::group)
                    .collect(Collectors.toSet());
            options.removeAll(optionsOf(command.group(1)));
            options.forEach(option -> unknown.add("scripts/" + command.group(1) + " " + option));
        }
        assertThat(unknown).as("unknown options").isEmpty();
    }

    /** Returns the options in the script, and those in string literals of the package that the script runs. */
    private static Set<String> optionsOf(String name) throws IOException {
        Set<String> options = new TreeSet<>();
        Path script = root.resolve("scripts").resolve(name);
        if (Files.exists(script)) {
            String code = Files.readString(script);
            OPTION.matcher(code).results().map(MatchResult::group).forEach(options::add);
            Matcher launches = LAUNCHES.matcher(code);
            while (launches.find()) {
                Path sources = root.resolve(launches.group(1)).resolve("src/main/java");
                for (Path source : javaFiles(sources.resolve(launches.group(2).replace('.', '/')))) {
                    Pattern.compile("\"(" + OPTION + ")\"")
                            .matcher(Files.readString(source))
                            .results()
                            .forEach(match -> options.add(match.group(1)));
                }
            }
        }
        return options;
    }

    private static Set<String> named(Pattern pattern, Function<MatchResult, String> name) {
        Set<String> names = matches(pattern).stream().map(name).collect(Collectors.toCollection(TreeSet::new));
        assertThat(names).as("what %s finds", pattern).isNotEmpty();
        return names;
    }

    private static List<MatchResult> matches(Pattern pattern) {
        return pattern.matcher(text).results().toList();
    }

    private static List<Path> modules() throws IOException {
        try (Stream<Path> entries = Files.list(root)) {
            return entries.filter(entry -> Files.exists(entry.resolve("pom.xml")))
                    .toList();
        }
    }

    private static List<Path> javaFiles(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }
}
