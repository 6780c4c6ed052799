package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.server.config.LogLevel;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The end of a log, reduced to times, levels, loggers, the program's own words, and classes of exceptions and frames.
 */
final class LogTail {
    /** The number of bytes that are read from the end of the log. */
    static final int MOST_BYTES = 2 << 20;

    private static final int MOST_LINE = 256 * 1024;
    /** A line of the text format, with or without the prefix that journalctl adds. */
    private static final Pattern LINE = Pattern.compile("(?:[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} \\S{1,64} \\S{1,64}: )?"
            + "([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}(?:Z|[+-][0-9]{2}:[0-9]{2})) ([A-Z]{4,5}) +\\[[^\\]]{0,100}]"
            + " ([A-Za-z0-9_$]{1,80}): (.*)");

    private static final String CLASS = "((?:[a-z][a-z0-9_]{0,40}\\.){1,10}[A-Z][A-Za-z0-9_$]{0,80})";
    private static final Pattern EXCEPTION = Pattern.compile(
            "(\\s*)((?:Caused by: |Suppressed: )?)(?:Exception in thread \"[^\"]{0,100}\" )?" + CLASS + "(?::.*)?");
    private static final Pattern FRAME = Pattern.compile("\\s+at (?:[a-z.]{1,40}(?:@[0-9.]{1,20})?/)?" + CLASS
            + "\\.[^.(]{1,100}\\([^:)]{0,80}(?::([0-9]{1,6}))?\\).*");

    private final KnownMessages messages = new KnownMessages();
    private final StringBuilder shown = new StringBuilder();
    private int hidden;

    /** Returns the part of a log's last {@value #MOST_BYTES} bytes that may be disclosed. */
    String of(Path log) throws IOException {
        for (String line : end(log).split("\\R")) {
            String allowed = line.length() > MOST_LINE ? "" : line(line);
            if (allowed.isEmpty()) {
                hidden++;
            } else {
                appendHidden();
                shown.append(allowed).append('\n');
            }
        }
        appendHidden();
        return shown.toString();
    }

    /** Reads the end of the log without its first line, which may be incomplete. */
    private static String end(Path log) throws IOException {
        try (SeekableByteChannel in = Files.newByteChannel(log)) {
            long start = Math.max(0, in.size() - MOST_BYTES);
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(MOST_BYTES, in.size()));
            in.position(start);
            while (bytes.hasRemaining() && in.read(bytes) >= 0) {}
            String text = new String(bytes.array(), 0, bytes.position(), UTF_8);
            return start == 0 ? text : text.substring(text.indexOf('\n') + 1);
        }
    }

    private void appendHidden() {
        if (hidden > 0) {
            shown.append('(').append(hidden).append(" hidden)\n");
            hidden = 0;
        }
    }

    /** Returns the part of a line that may be disclosed; may be empty. */
    private String line(String line) {
        if (line.isEmpty()) {
            return "";
        }
        if (line.startsWith("{")) {
            return json(line);
        }
        Matcher event = LINE.matcher(line);
        if (event.matches()) {
            return event(event.group(1), event.group(2), event.group(3), event.group(4));
        }
        Matcher frame = FRAME.matcher(line);
        if (frame.matches()) {
            return exists(frame.group(1)) ? "    at " + frame.group(1) + ":" + frame.group(2) : "";
        }
        Matcher exception = EXCEPTION.matcher(line);
        return exception.matches() && exists(exception.group(3)) ? exception.group(2) + exception.group(3) : "";
    }

    private String event(String time, String level, String logger, String message) {
        if (LogLevel.named(level.toLowerCase(Locale.ROOT)).isEmpty()) {
            return "";
        }
        String known = messages.loggers().contains(logger) ? logger : AllowList.HIDDEN;
        return time + " " + level + " " + known + ": " + messages.shown(logger, message);
    }

    private String json(String line) {
        JsonNode event;
        try {
            event = SupportFile.parse(line.getBytes(UTF_8));
        } catch (IOException other) {
            return "";
        }
        if (!event.path("timestamp").canConvertToLong()) {
            return "";
        }
        String logger = event.path("loggerName").asText();
        StringBuilder disclosed = new StringBuilder(event(
                Instant.ofEpochMilli(event.path("timestamp").asLong()).toString(),
                event.path("level").asText(),
                logger.substring(logger.lastIndexOf('.') + 1),
                event.path("formattedMessage").asText()));
        JsonNode thrown = event.path("throwable");
        while (disclosed.length() > 0 && thrown.isObject()) {
            thrown(thrown, disclosed);
            thrown = thrown.path("cause");
        }
        return disclosed.toString();
    }

    private static void thrown(JsonNode thrown, StringBuilder disclosed) {
        String type = thrown.path("className").asText();
        disclosed.append('\n').append(exists(type) ? type : AllowList.HIDDEN);
        for (JsonNode step : thrown.path("stepArray")) {
            String at = step.path("className").asText();
            if (exists(at)) {
                disclosed
                        .append("\n    at ")
                        .append(at)
                        .append(':')
                        .append(step.path("lineNumber").asInt());
            }
        }
    }

    /** Whether the program or the JVM has a class with this name; other names may be user data. */
    private static boolean exists(String type) {
        return type.matches(CLASS) && ClassLoader.getSystemResource(type.replace('.', '/') + ".class") != null;
    }

    /** The templates of the log messages, by logger. Only their words and the numbers in messages may be disclosed. */
    static final class KnownMessages {
        private static final String LIST = "log-messages.txt";
        private static final String GAP = "…";
        /** Longer messages are hidden, because they would take long to compare. */
        private static final int MOST_CHARACTERS = 4096;

        private static final Pattern PLACE = Pattern.compile("\\{n?}");
        private static final String NUMBER = "(-?[0-9][0-9.,]{0,24}(?: ?(?:[KMGT]i)?B| ?[mun]?s)?|PT[0-9HMS.]{1,24})";

        private final Map<String, List<Message>> byLogger = new HashMap<>();

        /** The form of a message, with a group for each number, and its words, with references to these groups. */
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
            try (BufferedReader in = new BufferedReader(new InputStreamReader(
                    Objects.requireNonNull(KnownMessages.class.getResourceAsStream(LIST)), UTF_8))) {
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
}
