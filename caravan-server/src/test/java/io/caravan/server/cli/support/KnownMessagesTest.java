package io.caravan.server.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.support.LogTail.KnownMessages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that log messages are found in class files, and that the messages in the documentation match the sources. */
class KnownMessagesTest {
    private static final Pattern CALL = Pattern.compile(
            "(?i:LOG)\\s*\\.(?:info|warn|error|debug|trace)\\(\\s*(?:[a-zA-Z =0-9]*\\? )?\"((?:[^\"\\\\]|\\\\.)*)\"");
    /** A variable part of a message in the sources. */
    private static final Pattern VARIABLE = Pattern.compile("\"\\s*\\+[^\";]*\\+\\s*\"|\\{}|%[-,.0-9]*[a-z]");

    /** A name behind the word that says what it is the name of. */
    private static final Pattern UNQUOTED_NAME =
            Pattern.compile("\\b(?:document|space|prefix|file|directory|backup|object) \\{}");

    private static final Pattern LITERAL = Pattern.compile("\"(?:[^\"\\\\\n]|\\\\.)*\"");
    /** Text between backticks, without the prefix of a RESP error. */
    private static final Pattern QUOTED = Pattern.compile("`(?:-ERR )?([^`]+)`");

    /** Returns the sources by path, with adjacent string literals joined. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (String module : List.of("caravan-core", "caravan-cluster", "caravan-server")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
                for (Path file :
                        files.filter(any -> any.toString().endsWith(".java")).toList()) {
                    sources.put(file.toString(), Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", ""));
                }
            }
        }
        return sources;
    }

    private static Set<String> logged() throws IOException {
        Set<String> logged = new TreeSet<>();
        sources().forEach((file, source) -> {
            String name = Path.of(file).getFileName().toString().replace(".java", "");
            if (source.contains("LoggerFactory.getLogger")) {
                CALL.matcher(source).results().forEach(call -> logged.add(name + ": " + call.group(1)));
            }
        });
        return logged;
    }

    @Test
    void findsEachLoggedMessageInClassFiles() throws IOException {
        KnownMessages known = new KnownMessages();
        Set<String> logged = logged();
        assertThat(logged).hasSizeGreaterThan(100).allSatisfy(line -> {
            String[] parts = line.split(": ", 2);
            assertThat(known.shown(parts[0], parts[1])).isEqualTo(parts[1].replace("{}", "…"));
        });
    }

    /** The support file shows unquoted arguments that are numbers, so a name must be quoted, because it may be one. */
    @Test
    void quotesNamesInMessages() throws IOException {
        assertThat(new KnownMessages().templates())
                .hasSizeGreaterThan(100)
                .anyMatch(template -> template.contains("document '{}'"))
                .noneMatch(template -> UNQUOTED_NAME.matcher(template).find());
    }

    @Test
    void showsNumbersExceptIdsOfNodesAndQuotedNames() throws IOException {
        KnownMessages known = new KnownMessages();
        assertThat(known.shown("SnapshotSender", "1: has sent node 2 10 of 20 bytes of the snapshot"))
                .isEqualTo("…: has sent node … 10 of 20 bytes of the snapshot");
        assertThat(known.shown(
                        "DocumentService", "document '7' was being restored when the server ended: restore it again"))
                .isEqualTo("document '…' was being restored when the server ended: restore it again");
    }

    @Test
    void troubleshootingQuotesMessagesOfTheSources() throws IOException {
        String joined = VARIABLE.matcher(String.join("\n", sources().values())).replaceAll("\u0001");
        String texts = LITERAL.matcher(joined)
                .results()
                .map(literal -> literal.group().replace("\\", ""))
                .collect(Collectors.joining("\n"));
        List<String> quoted = new ArrayList<>();
        for (String page : List.of("operate/troubleshooting.md", "cluster/failures.md")) {
            for (String line : Files.readAllLines(Path.of("..", "docs").resolve(page))) {
                if (line.startsWith("| ")) {
                    QUOTED.matcher(line.split(" \\| ")[0]).results().forEach(text -> quoted.add(text.group(1)));
                }
            }
        }
        List<String> parts = quoted.stream()
                .filter(message -> message.contains(" "))
                .flatMap(message -> Stream.of(message.split("…")))
                .map(part -> part.replaceAll("^[ ;:,.']+|[ ;:,.']+$", ""))
                .filter(part -> part.length() >= 6)
                .toList();
        assertThat(parts).hasSizeGreaterThan(100).allMatch(part -> texts.contains(part) || matches(texts, part));
    }

    /** Whether {@code texts} contains these words. A variable part of a text stands for any one word. */
    private static boolean matches(String texts, String words) {
        String pattern = Stream.of(words.split(" "))
                .map(word -> "(?:" + Pattern.quote(word) + "|[^\\s\"]*\u0001[^\\s\"]*)")
                .collect(Collectors.joining(" "));
        return Pattern.compile(pattern).matcher(texts).find();
    }

    @Test
    void showsNumbersOnlyOutsideQuotes() throws IOException {
        KnownMessages messages = new KnownMessages();
        assertThat(messages.shown(
                        "Archiver", "the archive lacks at least 5 changes, which are archived after the next start: x"))
                .isEqualTo("the archive lacks at least 5 changes, which are archived after the next start: …");
        assertThat(messages.shown(
                        "Archiver",
                        "the archive lacks at least Ada's changes, which are archived after the next start: x"))
                .isEqualTo("the archive lacks at least … changes, which are archived after the next start: …");
        assertThat(messages.shown("Network", "rejecting 10.0.0.1: the limit of connections is reached"))
                .isEqualTo("rejecting …: the limit of connections is reached");
        assertThat(messages.shown("ExpirySweeper", "document '4711' has expired"))
                .isEqualTo("document '…' has expired");
        assertThat(messages.shown("Shutdown", "document '4711' has expired")).isEqualTo("(hidden)");
        assertThat(messages.shown("Shutdown", "4711")).isEqualTo("(hidden)");
    }
}
