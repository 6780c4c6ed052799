package io.caravan.server.cli.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.DurableListStore;
import io.caravan.cluster.GroupMember;
import io.caravan.server.config.UserFiles;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The end of a log, reduced to times, levels, loggers, the program's own words, and classes of exceptions and frames.
 */
final class LogTail {
    /** The number of bytes that are read from the end of the log. */
    static final int MOST_BYTES = 2 << 20;

    private static final int MOST_LINE = 256 * 1024;
    /** A line of the text format, with or without the prefix that journalctl adds. */
    private static final Pattern LINE = Pattern.compile("(?:[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} \\S{1,64} \\S{1,64}: )?"
            + "([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,12}(?:Z|[+-][0-9]{2}:[0-9]{2}))"
            + " (ERROR|WARN|INFO|DEBUG|TRACE) +\\[[^\\]]{0,100}] ([A-Za-z0-9_$]{1,80}): (?s:(.*))");

    private static final String CLASS = "((?:[a-z][a-z0-9_]{0,40}\\.){1,10}[A-Z][A-Za-z0-9_$]{0,80})";
    private static final Pattern EXCEPTION = Pattern.compile(
            "\\s*((?:Caused by: |Suppressed: )?)(?:Exception in thread \"[^\"]{0,100}\" )?" + CLASS + "(?::.*)?");
    private static final Pattern FRAME = Pattern.compile("\\s+at (?:[a-z.]{1,40}(?:@[0-9.]{1,20})?/)?" + CLASS
            + "\\.[^.(]{1,100}\\([^:)]{0,80}(?::([0-9]{1,6}))?\\).*");

    private final KnownMessages messages;
    private final StringBuilder shown = new StringBuilder();
    private int hidden;

    LogTail() throws IOException {
        messages = new KnownMessages();
    }

    /** Returns the part of a log's last {@value #MOST_BYTES} bytes that may be disclosed. */
    String of(Path log) throws IOException {
        for (String line : end(log).split("\\R")) {
            for (String each : line.startsWith("{") ? asText(line) : List.of(line)) {
                String allowed = each.length() > MOST_LINE ? "" : line(each);
                if (allowed.isEmpty()) {
                    hidden++;
                } else {
                    appendHidden();
                    shown.append(allowed).append('\n');
                }
            }
        }
        appendHidden();
        return shown.toString();
    }

    /** Reads the end of the log without its first line, which may be incomplete. */
    private static String end(Path log) throws IOException {
        long start = Math.max(0, UserFiles.size(log) - MOST_BYTES);
        try (InputStream in = UserFiles.open(log)) {
            in.skipNBytes(start);
            String text = new String(in.readNBytes(MOST_BYTES), UTF_8);
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
        Matcher event = LINE.matcher(line);
        if (event.matches()) {
            String logger = event.group(3);
            return event.group(1) + " " + event.group(2) + " "
                    + (messages.loggers().contains(logger) ? logger : AllowList.HIDDEN) + ": "
                    + messages.shown(logger, event.group(4));
        }
        Matcher frame = FRAME.matcher(line);
        if (frame.matches()) {
            return exists(frame.group(1)) ? "    at " + frame.group(1) + ":" + frame.group(2) : "";
        }
        Matcher exception = EXCEPTION.matcher(line);
        return exception.matches() && exists(exception.group(2)) ? exception.group(1) + exception.group(2) : "";
    }

    /** Whether the program or the JVM has a class with this name; other names may be user data. */
    private static boolean exists(String type) {
        return ClassLoader.getSystemResource(type.replace('.', '/') + ".class") != null;
    }

    /** Returns the lines that the text format has for a line of the JSON format; without messages of exceptions. */
    private static List<String> asText(String line) {
        List<String> lines = new ArrayList<>();
        try {
            JsonNode event = SupportFile.parse(line);
            String logger = event.path("loggerName").asText();
            lines.add(Instant.ofEpochMilli(event.path("timestamp").asLong()) + " "
                    + event.path("level").asText() + " [] " + logger.substring(logger.lastIndexOf('.') + 1) + ": "
                    + event.path("formattedMessage").asText());
            String before = "";
            for (JsonNode thrown = event.path("throwable"); thrown.isObject(); thrown = thrown.path("cause")) {
                lines.add(before + thrown.path("className").asText());
                for (JsonNode step : thrown.path("stepArray")) {
                    lines.add("\tat " + step.path("className").asText() + ".method(file:"
                            + step.path("lineNumber").asInt() + ")");
                }
                before = "Caused by: ";
            }
        } catch (IOException noJson) {
            lines.add("");
        }
        return lines;
    }

    /**
     * The templates of the program's log messages, by logger: the texts in the class files of the classes that log. Only
     * their words may be disclosed, and numbers, except the names of documents, which are in quotes, and the ids of
     * nodes, which follow the word "node" or begin a message.
     */
    static final class KnownMessages {
        private static final String GAP = "…";
        private static final String PLACE = "{}";
        /** Longer messages are hidden, because they would take long to compare. */
        private static final int MOST_CHARACTERS = 4096;

        private static final Predicate<String> NUMBER =
                AllowList.matching("-?[0-9][0-9,]{0,24}(\\.[0-9]{1,9})?( ?([KMGT]i)?B| ?[mun]?s)?|PT[0-9HMS.]{1,24}");
        /** A class of each module. */
        private static final List<Class<?>> MODULES =
                List.of(DurableListStore.class, GroupMember.class, KnownMessages.class);

        private static final Pattern CLASS_FILE = Pattern.compile("([A-Za-z0-9_]+)(\\$[A-Za-z0-9_$]+)?\\.class$");
        private final Map<String, Set<Message>> byLogger = new HashMap<>();

        /** A template: its words, with a place for an argument between each two. */
        private record Message(List<String> words) {
            /** Templates with more words are compared first. */
            private static final Comparator<Message> ORDER = Comparator.<Message>comparingInt(
                            message -> -String.join("", message.words).length())
                    .thenComparing(Message::template);

            static Message of(String template) {
                return new Message(List.of(template.split(Pattern.quote(PLACE), -1)));
            }

            String template() {
                return String.join(PLACE, words);
            }

            /** Returns the part of a message that may be disclosed; null if the message does not have this form. */
            @Nullable
            String shown(String message) {
                if (!message.startsWith(words.get(0))) {
                    return null;
                }
                StringBuilder shown = new StringBuilder(words.get(0));
                int end = words.get(0).length();
                for (int i = 1; i < words.size(); i++) {
                    String word = words.get(i);
                    boolean last = i == words.size() - 1;
                    int begin = last ? message.length() - word.length() : message.indexOf(word, end);
                    if (begin < end || !message.startsWith(word, begin)) {
                        return null;
                    }
                    String argument = message.substring(end, begin);
                    shown.append(isNumber(words.get(i - 1), argument) ? argument : GAP)
                            .append(word);
                    end = begin + word.length();
                }
                return end == message.length() ? shown.toString() : null;
            }

            /** Whether an argument behind these words is a number that is neither quoted nor the id of a node. */
            private static boolean isNumber(String before, String argument) {
                return !before.isEmpty() && !before.endsWith("'") && !before.endsWith("node ") && NUMBER.test(argument);
            }
        }

        KnownMessages() throws IOException {
            for (Class<?> module : MODULES) {
                Path path = Path.of(URI.create(module.getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toString()));
                if (Files.isDirectory(path)) {
                    addAll(path);
                } else {
                    try (FileSystem jar = FileSystems.newFileSystem(path)) {
                        addAll(jar.getPath("/"));
                    }
                }
            }
        }

        private void addAll(Path directory) throws IOException {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    Matcher name = CLASS_FILE.matcher(file.toString());
                    Set<String> texts = name.find() ? texts(file) : Set.of();
                    if (texts.contains("org/slf4j/Logger")) {
                        Set<Message> known =
                                byLogger.computeIfAbsent(name.group(1), logger -> new TreeSet<>(Message.ORDER));
                        texts.stream()
                                .filter(text -> text.chars().anyMatch(Character::isLetter))
                                .forEach(text -> known.add(Message.of(text)));
                    }
                }
            }
        }

        /** Returns the texts in the constant pool of a class file; the JVM specification, 4.4, has the format. */
        private static Set<String> texts(Path classFile) throws IOException {
            Set<String> texts = new TreeSet<>();
            try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(Files.readAllBytes(classFile)))) {
                in.readLong();
                int constants = in.readUnsignedShort();
                for (int i = 1; i < constants; i++) {
                    switch (in.readUnsignedByte()) {
                        case 1 -> texts.add(in.readUTF());
                        case 5, 6 -> {
                            in.readLong();
                            i++;
                        }
                        case 7, 8, 16, 19, 20 -> in.readShort();
                        case 15 -> in.skipBytes(3);
                        default -> in.readInt();
                    }
                }
            }
            return texts;
        }

        Set<String> templates() {
            return byLogger.values().stream()
                    .flatMap(Set::stream)
                    .filter(message -> message.words.size() > 1)
                    .map(Message::template)
                    .collect(Collectors.toSet());
        }

        Set<String> loggers() {
            return byLogger.keySet();
        }

        /** Returns the part of a logger's message that may be disclosed. */
        String shown(String logger, String message) {
            if (message.length() <= MOST_CHARACTERS) {
                for (Message known : byLogger.getOrDefault(logger, Set.of())) {
                    String shown = known.shown(message);
                    if (shown != null) {
                        return shown;
                    }
                }
            }
            return AllowList.HIDDEN;
        }
    }
}
