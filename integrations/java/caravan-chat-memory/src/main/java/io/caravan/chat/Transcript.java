package io.caravan.chat;

import io.caravan.ListStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a conversation, as its list stores them.
 *
 * <p>An entry is a message, which is JSON text in UTF-8. A list can be trimmed only at its front, but chat memories
 * keep a system message at the front and remove the messages after it. Therefore, an entry may also be a <em>lead</em>,
 * which is marked by a first byte with which no JSON text starts:
 *
 * <pre>
 *   0        1
 *   +--------+---------------------------------+
 *   |  0x1E  | a message that precedes others  |
 *   +--------+---------------------------------+
 * </pre>
 *
 * <p>The conversation is the newest lead, if there is one, followed by all messages. A change appends the lead again
 * only if it would otherwise trim the lead.
 */
final class Transcript {
    /** The mark of a lead: the record separator of JSON text sequences (RFC 7464). */
    private static final char LEAD = '\u001e';

    /** The transcript of a conversation that does not exist. */
    static final Transcript EMPTY = new Transcript();

    private record Line(long sequence, String message) {}

    private final List<Line> body = new ArrayList<>();
    private @Nullable Line lead;
    private long nextSequence;

    private Transcript() {}

    /**
     * A change to the list that turns one transcript into another.
     *
     * @param keepFrom sequence of the first entry to keep
     * @param appended the values to append
     */
    record Change(long keepFrom, List<byte[]> appended) {}

    /** Rejects a message that is blank or starts with the mark of a lead. */
    static void checkMessage(String message) {
        if (message.isBlank() || message.charAt(0) == LEAD) {
            throw new IllegalArgumentException("a message must be JSON text, was '" + message + "'");
        }
    }

    /**
     * Replaces each unpaired surrogate, which UTF-8 cannot encode, with its JSON escape. In JSON text, a surrogate can
     * occur only in a string, where the escape has the same meaning.
     */
    static String escaped(String message) {
        StringBuilder escaped = new StringBuilder(message.length());
        message.codePoints().forEach(point -> {
            if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                escaped.append(String.format(Locale.ROOT, "\\u%04x", point));
            } else {
                escaped.appendCodePoint(point);
            }
        });
        return escaped.toString();
    }

    /** Reads a consistent view of the durable messages in the list. */
    static Transcript read(ListStore store, long listId) {
        Transcript transcript = new Transcript();
        store.get(listId, (sequence, value) -> {
                transcript.add(sequence, StandardCharsets.UTF_8.decode(value).toString());
                return true;
});
        return transcript;
    }

    private void add(long sequence, String value) {
        if (value.indexOf(LEAD) == 0) {
            lead = new Line(sequence, value.substring(1));
        } else {
            body.add(new Line(sequence, value));
        }
        nextSequence = sequence + 1;
    }

    List<String> messages() {
        return Stream.concat(Stream.ofNullable(lead), body.stream())
                .map(Line::message)
                .toList();
    }

    /**
     * Returns the change to the list that turns this transcript into these messages. At least one message is required.
     * Keeps the longest suffix of the body that equals consecutive messages, starting with the first or the second one.
     */
    Change changeTo(List<String> messages) {
        int plain = kept(messages);
        int led = kept(messages.subList(1, messages.size()));
        if (led > plain) {
            long keepFrom = body.get(body.size() - led).sequence;
            String first = messages.get(0);
            Stream<String> newLead = leads(first, keepFrom) ? Stream.empty() : Stream.of(LEAD + first);
            return new Change(keepFrom, encode(newLead, messages.subList(1 + led, messages.size())));
        }
        if (plain > 0) {
            long keepFrom = body.get(body.size() - plain).sequence;
            if (lead == null || lead.sequence < keepFrom) {
                return new Change(keepFrom, encode(Stream.empty(), messages.subList(plain, messages.size())));
            }
        }
        return new Change(nextSequence, encode(Stream.empty(), messages));
    }

    /** Returns the length of the longest suffix of the body that equals the start of these messages. */
    private int kept(List<String> messages) {
        int most = Math.min(body.size(), messages.size());
        while (most > 0 && !endsWith(messages.subList(0, most))) {
            most--;
        }
        return most;
    }

    private boolean endsWith(List<String> messages) {
        int from = body.size() - messages.size();
        for (int i = 0; i < messages.size(); i++) {
            if (!body.get(from + i).message.equals(messages.get(i))) {
                return false;
            }
        }
        return true;
    }

    private boolean leads(String message, long keepFrom) {
        return lead != null && lead.sequence >= keepFrom && lead.message.equals(message);
    }

    private static List<byte[]> encode(Stream<String> newLead, List<String> messages) {
        return Stream.concat(newLead, messages.stream())
                .map(value -> value.getBytes(StandardCharsets.UTF_8))
                .toList();
    }
}
