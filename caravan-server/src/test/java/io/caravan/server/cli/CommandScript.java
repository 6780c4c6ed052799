package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A script of all commands and their expected replies, run by every client. Its first lines describe the format. */
public final class CommandScript {
    private static final Path FILE = Path.of("../scripts/clients/commands.txt");
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");

    /** A request and its expected reply. */
    public record Step(List<String> words, String expected) {
        public String name() {
            return words.get(0).toUpperCase(Locale.ROOT);
        }
    }

    private CommandScript() {}

    public static List<Step> steps() throws IOException {
        List<Step> steps = new ArrayList<>();
        for (String line : Files.readAllLines(FILE)) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] parts = line.split(" => ", 2);
                steps.add(new Step(words(parts[0]), parts[1]));
            }
        }
        return steps;
    }

    private static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(text);
        while (word.find()) {
            words.add(word.group(1) == null ? word.group(2) : word.group(1));
        }
        return words;
    }

    /** Checks that the script contains every command of the server except those that need a separate connection. */
    public static void assertCovers(Collection<String> listed) throws IOException {
        Set<String> used = steps().stream().map(Step::name).collect(Collectors.toCollection(TreeSet::new));
        used.addAll(List.of("SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE"));
        assertThat(listed).isNotEmpty().allMatch(name -> used.contains(name.toUpperCase(Locale.ROOT)));
    }

    public static void assertReply(Step step, Object reply) {
        String text = json(reply);
        String expected = step.expected();
        if (expected.startsWith("/")) {
            assertThat(text).as(step.toString()).containsPattern(expected.substring(1, expected.length() - 1));
        } else {
            assertThat(text).as(step.toString()).isEqualTo(expected);
        }
    }

    public static void assertError(Step step, String message) {
        assertThat("!" + message).as(step.toString()).startsWith(step.expected());
    }

    /** Returns a reply as JSON, with 1 and 0 for Booleans. */
    private static String json(Object reply) {
        if (reply == null || reply instanceof Number) {
            return String.valueOf(reply);
        } else if (reply instanceof Boolean truth) {
            return truth ? "1" : "0";
        } else if (reply instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> json(entry.getKey()) + ":" + json(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        } else if (reply instanceof Collection<?> elements) {
            return elements.stream().map(CommandScript::json).collect(Collectors.joining(",", "[", "]"));
        }
        String text = reply instanceof byte[] bytes ? new String(bytes, UTF_8) : reply.toString();
        return '"' + text.replace("\"", "\\\"") + '"';
    }
}
