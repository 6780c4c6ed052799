package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.server.config.LogLevel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The end of a log, reduced to parts that contain no user data: time, level, logger, the program's own words, and the
 * classes of exceptions and stack frames.
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
}
