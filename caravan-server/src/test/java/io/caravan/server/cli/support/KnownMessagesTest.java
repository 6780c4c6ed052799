package io.caravan.server.cli.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that the list of known log messages matches the log calls in the sources. */
class KnownMessagesTest {
    private static final Pattern CALL = Pattern.compile(
            "(?i:LOG)\\s*\\.(?:info|warn|error|debug|trace)\\(\\s*(?:[a-zA-Z =0-9]*\\? )?\"((?:[^\"\\\\]|\\\\.)*)\"");

    private static Set<String> logged() throws IOException {
        Set<String> logged = new TreeSet<>();
        for (String module : List.of("caravan-core", "caravan-cluster", "caravan-server")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
                for (Path file :
                        files.filter(any -> any.toString().endsWith(".java")).toList()) {
                    String name = file.getFileName().toString().replace(".java", "");
                    String source = Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", "");
                    if (source.contains("LoggerFactory.getLogger")) {
                        CALL.matcher(source).results().forEach(call -> logged.add(name + ": " + call.group(1)));
                    }
                }
            }
        }
        return logged;
    }

    @Test
    void listMatchesLoggedMessages() throws IOException {
        Set<String> listed = KnownMessages.lines().stream()
                .map(line -> line.replace("{n}", "{}"))
                // Omits the second text of a conditional expression, which the search for log calls does not find.
                .filter(line -> !line.startsWith("Shutdown: stopped, but"))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(listed).isEqualTo(logged());
    }

    @Test
    void showsNumbersOnlyAtNumberPlaceholders() {
        KnownMessages messages = new KnownMessages();
        assertThat(messages.shown(
                        "Archiver", "the archive lacks 5 changes, which are archived after the next start: x"))
                .isEqualTo("the archive lacks 5 changes, which are archived after the next start: …");
        assertThat(messages.shown(
                        "Archiver", "the archive lacks Ada's changes, which are archived after the next start: x"))
                .isEqualTo("(hidden)");
        assertThat(messages.shown("ExpirySweeper", "document '4711' has expired"))
                .isEqualTo("document '…' has expired");
        assertThat(messages.shown("Shutdown", "document '4711' has expired")).isEqualTo("(hidden)");
    }
}
