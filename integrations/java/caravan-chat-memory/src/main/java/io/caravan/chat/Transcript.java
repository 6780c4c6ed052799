package io.caravan.chat;

import io.caravan.ListStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A conversation as its list has it.
 *
 * <p>An entry is a message, which is JSON text in UTF-8. A list is trimmed at its front only, while chat memories keep a
 * system message there and drop those behind it. So an entry may also be a <em>lead</em>, told by its first byte, with
 * which no JSON begins:
 *
 * <pre>
 *   0        1
 *   +--------+---------------------------------+
 *   |  0x1E  | a message that precedes others  |
 *   +--------+---------------------------------+
 * </pre>
 *
 * <p>The conversation is the newest lead, if there is any, and then all messages. A lead that lies in the midst of the
 * messages is so written once for each time that the messages have moved past it, not with each of them.
 */
final class Transcript {
    /** The record separator of JSON text sequences (RFC 7464). */
    private static final char LEAD = '\u001e';

    /** One without messages, of a conversation that does not exist. */
    static final Transcript EMPTY = new Transcript();

    private record Line(long sequence, String message) {}

    private final List<Line> body = new ArrayList<>();
    private @Nullable Line lead;
    private long nextSequence;

    private Transcript() {}

    /**
     * What makes another transcript of this one.
     *
     * @param keepFrom sequence of the first entry that stays
     * @param appended the values that come behind
     */
    record Change(long keepFrom, List<byte[]> appended) {}

    /** Refuses what could not be told from a lead. */
    static void checkMessage(String message) {
        if (message.isBlank() || message.charAt(0) == LEAD) {
            throw new IllegalArgumentException("a message must be JSON text, was '" + message + "'");
        }
    }

    /**
     * Writes each half of a surrogate pair that stands alone as its JSON escape: UTF-8 has no bytes for it. In JSON text
     * it can only stand in a string, where the escape means the same.
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

    /** Reads the list, as it is durably at one moment. */
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
     * The change that leaves these messages, at least one: what stays of the body is its longest end with which they
     * begin, or begin behind their first.
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

    /** How many of the last messages of the body are the first of these. */
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
