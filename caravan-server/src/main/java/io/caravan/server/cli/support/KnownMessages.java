package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The templates of the program's log messages, by logger. Only the words of templates, and numbers in messages, may be
 * disclosed.
 */
final class KnownMessages {
    private static final String LIST = "log-messages.txt";
    private static final String GAP = "…";
    /** The maximum length of a message. Longer messages are hidden, because they would take long to compare. */
    private static final int MOST_CHARACTERS = 4096;

    private static final Pattern PLACE = Pattern.compile("\\{n?}");
    private static final String NUMBER = "(-?[0-9][0-9.,]{0,24}(?: ?(?:[KMGT]i)?B| ?[mun]?s)?|PT[0-9HMS.]{1,24})";

    private final Map<String, List<Message>> byLogger = new HashMap<>();

    /**
     * A message template.
     *
     * @param pattern the form of a message, with a group for each number
     * @param shown the template's words, with references to these groups
     */
    private record Message(Pattern pattern, String shown) {
        static Message of(String template) {
            StringBuilder pattern = new StringBuilder();
            StringBuilder shown = new StringBuilder();
            Matcher place = PLACE.matcher(template);
            int end = 0;
            int numbers = 0;
            while (place.find()) {
                String words = template.substring(end, place.start());
                boolean number = place.group().equals("{n}");
                pattern.append(Pattern.quote(words)).append(number ? NUMBER : ".*?");
                shown.append(Matcher.quoteReplacement(words)).append(number ? "$" + ++numbers : GAP);
                end = place.end();
            }
            String words = template.substring(end);
            return new Message(
                    Pattern.compile(pattern + Pattern.quote(words), Pattern.DOTALL),
                    shown + Matcher.quoteReplacement(words));
        }
    }

    /** Loads the templates that are packaged with the program. */
    KnownMessages() {
        for (String line : lines()) {
            int colon = line.indexOf(": ");
            byLogger.computeIfAbsent(line.substring(0, colon), logger -> new ArrayList<>())
                    .add(Message.of(line.substring(colon + 2)));
        }
    }

    /** Returns the templates as lines of the form {@code LOGGER: MESSAGE}. */
    static List<String> lines() {
        try (BufferedReader in = new BufferedReader(
                new InputStreamReader(Objects.requireNonNull(KnownMessages.class.getResourceAsStream(LIST)), UTF_8))) {
            return in.lines().filter(line -> !line.startsWith("#")).toList();
        } catch (IOException impossible) {
            throw new UncheckedIOException("cannot read " + LIST, impossible);
        }
    }

    Set<String> loggers() {
        return byLogger.keySet();
    }

    /** Returns the part of a logger's message that may be disclosed. */
    String shown(String logger, String message) {
        if (message.length() > MOST_CHARACTERS) {
            return AllowList.HIDDEN;
        }
        for (Message known : byLogger.getOrDefault(logger, List.of())) {
            Matcher match = known.pattern().matcher(message);
            if (match.matches()) {
                StringBuilder shown = new StringBuilder();
                match.appendReplacement(shown, known.shown());
                return shown.toString();
            }
        }
        return AllowList.HIDDEN;
    }
}
