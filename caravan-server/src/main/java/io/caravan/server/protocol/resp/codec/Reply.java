package io.caravan.server.protocol.resp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A reply of one of the RESP 3 types. If RESP 2 lacks a type, the most similar type replaces it, as in Redis. */
public sealed interface Reply {
    /** The usual reply to a command that returns no data. */
    Reply OK = new Simple("OK");

    /** Approximate memory that a reply takes in addition to its text or bytes. */
    int OBJECT_BYTES = 48;

    /** Encodes the reply in this version of the protocol. */
    void encode(ByteBuf out, RespVersion protocol);

    /** Returns the approximate memory that the reply takes, in bytes. */
    default long heldBytes() {
        return OBJECT_BYTES;
    }

    /**
     * Converts an integer, a boolean, a string, bytes, a map, a record, or null to a reply. Returns a reply unchanged.
     */
    static Reply of(@Nullable Object value) {
        if (value instanceof Reply reply) {
            return reply;
        }
        if (value instanceof Long || value instanceof Integer) {
            return new Number(((java.lang.Number) value).longValue());
        }
        if (value instanceof Boolean yes) {
            return new Bool(yes);
        }
        if (value instanceof byte[] bytes) {
            return new Bulk(bytes);
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, Reply> entries = new LinkedHashMap<>();
            map.forEach((name, entry) -> entries.put((String) name, Reply.of(entry)));
            return new Fields(entries);
        }
        if (value instanceof Record fields) {
            return Fields.ofRecord(fields);
        }
        return value == null ? Null.BULK : Bulk.of((String) value);
    }

    private static long heldBytes(Collection<? extends Reply> elements) {
        long bytes = OBJECT_BYTES;
        for (Reply element : elements) {
            bytes += element.heldBytes();
        }
        return bytes;
    }

    private static void putBulk(ByteBuf out, byte[] value) {
        putNumber(out, '$', value.length);
        out.writeBytes(value);
        putLineEnd(out);
    }

    /** Writes the text and a line end. The text must not contain a line end. */
    private static void putLine(ByteBuf out, String text) {
        ByteBufUtil.writeUtf8(out, text);
        putLineEnd(out);
    }

    static void putLineEnd(ByteBuf out) {
        out.writeShort('\r' << Byte.SIZE | '\n');
    }

    /** Writes a type and a number as one line. Uses a single write, because most replies consist of such a line. */
    static void putNumber(ByteBuf out, char type, long number) {
        // The length of the type, sign, digits, and line end of the longest number.
        byte[] line = new byte[1 + 1 + 19 + 2];
        int at = line.length;
        line[--at] = '\n';
        line[--at] = '\r';
        // Every number has a negative counterpart, but Long.MIN_VALUE has no positive one.
        long rest = number < 0 ? number : -number;
        do {
            line[--at] = (byte) ('0' - rest % 10);
            rest /= 10;
        } while (rest != 0);
        if (number < 0) {
            line[--at] = '-';
        }
        line[--at] = (byte) type;
        out.writeBytes(line, at, line.length - at);
    }

    /** A reply that consists of text. */
    sealed interface Text extends Reply {
        String text();

        @Override
        default long heldBytes() {
            return OBJECT_BYTES + text().length();
        }
    }

    /** A reply that consists of a short string without line ends. */
    record Simple(String text) implements Text {
        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            out.writeByte('+');
            putLine(out, text);
        }
    }

    /**
     * An error reply: a prefix in capitals, for programs, and a message for people. Line ends are replaced by spaces.
     */
    record Error(String text) implements Text {
        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            out.writeByte('-');
            putLine(out, text.replace('\r', ' ').replace('\n', ' '));
        }
    }

    /** An integer reply. */
    record Number(long value) implements Reply {
        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            putNumber(out, ':', value);
        }
    }

    /** A boolean reply; 1 or 0 in RESP 2. */
    record Bool(boolean value) implements Reply {
        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            if (protocol == RespVersion.RESP2) {
                putNumber(out, ':', value ? 1 : 0);
            } else {
                ByteBufUtil.writeAscii(out, value ? "#t\r\n" : "#f\r\n");
            }
        }
    }

    /** A byte string reply. */
    record Bulk(byte[] value) implements Reply {
        public static Bulk of(String text) {
            return new Bulk(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            putBulk(out, value);
        }

        @Override
        public long heldBytes() {
            return OBJECT_BYTES + value.length;
        }
    }

    /** A reply that contains human-readable text; a byte string in RESP 2. */
    record Verbatim(String text) implements Text {
        private static final String FORMAT = "txt:";

        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            if (protocol == RespVersion.RESP2) {
                Bulk.of(text).encode(out, protocol);
                return;
            }
            byte[] bytes = (FORMAT + text).getBytes(StandardCharsets.UTF_8);
            putNumber(out, '=', bytes.length);
            out.writeBytes(bytes);
            putLineEnd(out);
        }
    }

    /** The null reply. RESP 2 has separate nulls for byte strings and for arrays. */
    enum Null implements Reply {
        BULK("$-1\r\n"),
        ARRAY("*-1\r\n");

        private final String inResp2;

        Null(String inResp2) {
            this.inResp2 = inResp2;
        }

        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            ByteBufUtil.writeAscii(out, protocol == RespVersion.RESP2 ? inResp2 : "_\r\n");
        }
    }

    /**
     * An array, a set, or a push message of several replies; always an array in RESP 2.
     *
     * @param type the type in RESP 3: an array, a set, or a push message, which is not a reply to a request
     */
    record Array(char type, List<? extends Reply> elements) implements Reply {
        public static final Array EMPTY = new Array(List.of());

        private static final char ARRAY = '*';

        public Array(List<? extends Reply> elements) {
            this(ARRAY, elements);
        }

        /** Creates an array of values, converted by {@link Reply#of}. */
        public static Array of(@Nullable Object... values) {
            return new Array(Arrays.stream(values).map(Reply::of).toList());
        }

        /** Creates a push message of values, converted by {@link Reply#of}. */
        public static Array push(@Nullable Object... values) {
            return new Array('>', of(values).elements);
        }

        public static Array set(List<? extends Reply> elements) {
            return new Array('~', elements);
        }

        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            putNumber(out, protocol == RespVersion.RESP2 ? ARRAY : type, elements.size());
            elements.forEach(element -> element.encode(out, protocol));
        }

        @Override
        public long heldBytes() {
            return Reply.heldBytes(elements);
        }
    }

    /** Several consecutive replies to one request. */
    record Sequence(List<? extends Reply> replies) implements Reply {
        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            replies.forEach(reply -> reply.encode(out, protocol));
        }

        @Override
        public long heldBytes() {
            return Reply.heldBytes(replies);
        }
    }

    /** A map from names to replies, in order; in RESP 2, an array in which each name is followed by its reply. */
    record Fields(Map<String, Reply> entries) implements Reply {
        /** Creates a map from alternating names and values. {@link Reply#of} converts the values. */
        public static Fields of(@Nullable Object... namesAndValues) {
            Map<String, Reply> entries = new LinkedHashMap<>();
            for (int i = 0; i < namesAndValues.length; i += 2) {
                entries.put((String) Objects.requireNonNull(namesAndValues[i]), Reply.of(namesAndValues[i + 1]));
            }
            return new Fields(entries);
        }

        /** Creates a map from the components of a public record, with names such as {@code copied-to}. */
        public static Fields ofRecord(Record fields) {
            Map<String, Reply> entries = new LinkedHashMap<>();
            for (RecordComponent component : fields.getClass().getRecordComponents()) {
                String name = component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
                try {
                    entries.put(name, Reply.of(component.getAccessor().invoke(fields)));
                } catch (ReflectiveOperationException impossible) {
                    throw new IllegalStateException("cannot read " + component, impossible);
                }
            }
            return new Fields(entries);
        }

        @Override
        public void encode(ByteBuf out, RespVersion protocol) {
            int size = entries.size();
            putNumber(out, protocol == RespVersion.RESP2 ? '*' : '%', protocol == RespVersion.RESP2 ? 2 * size : size);
            entries.forEach((name, value) -> {
                Bulk.of(name).encode(out, protocol);
                value.encode(out, protocol);
            });
        }

        @Override
        public long heldBytes() {
            return entries.size() * (long) OBJECT_BYTES + Reply.heldBytes(entries.values());
        }
    }
}
