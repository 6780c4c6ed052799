package io.caravan.server.protocol.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A reply of one of the RESP 3 types. If RESP 2 lacks a type, the most similar type replaces it, as in Redis. */
sealed interface Reply {
    /** The usual reply to a command that returns no data. */
    Reply OK = new Simple("OK");

    /** Approximate memory that a reply takes in addition to its text or bytes. */
    int OBJECT_BYTES = 48;

    /** Encodes the reply in version 3 or 2 of the protocol. */
    void encode(ByteBuf out, boolean resp3);

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
            List<Reply> entries = new ArrayList<>();
            map.forEach((name, entry) -> {
                entries.add(Reply.of(name));
                entries.add(Reply.of(entry));
            });
            return new Array(Array.MAP, entries);
        }
        if (value instanceof Record fields) {
            return of(components(fields));
        }
        return value == null ? Null.BULK : Bulk.of((String) value);
    }

    /** Creates a map from alternating names and values, converted by {@link #of}. */
    static Reply map(@Nullable Object... namesAndValues) {
        return new Array(Array.MAP, Array.of(namesAndValues).elements);
    }

    /** Returns the components of a public record, with names such as {@code copied-to}. */
    static Map<String, @Nullable Object> components(Record fields) {
        Map<String, @Nullable Object> components = new LinkedHashMap<>();
        for (RecordComponent component : fields.getClass().getRecordComponents()) {
            String name = component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            try {
                components.put(name, component.getAccessor().invoke(fields));
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException("cannot read " + component, impossible);
            }
        }
        return components;
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
        public void encode(ByteBuf out, boolean resp3) {
            out.writeByte('+');
            putLine(out, text);
        }
    }

    /**
     * An error reply: a prefix in capitals, for programs, and a message for people. Line ends are replaced by spaces.
     */
    record Error(String text) implements Text {
        @Override
        public void encode(ByteBuf out, boolean resp3) {
            out.writeByte('-');
            putLine(out, text.replace('\r', ' ').replace('\n', ' '));
        }
    }

    record Number(long value) implements Reply {
        @Override
        public void encode(ByteBuf out, boolean resp3) {
            putNumber(out, ':', value);
        }
    }

    /** A boolean reply; 1 or 0 in RESP 2. */
    record Bool(boolean value) implements Reply {
        @Override
        public void encode(ByteBuf out, boolean resp3) {
            if (!resp3) {
                putNumber(out, ':', value ? 1 : 0);
            } else {
                ByteBufUtil.writeAscii(out, value ? "#t\r\n" : "#f\r\n");
            }
        }
    }

    record Bulk(byte[] value) implements Reply {
        public static Bulk of(String text) {
            return new Bulk(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void encode(ByteBuf out, boolean resp3) {
            putNumber(out, '$', value.length);
            out.writeBytes(value);
            putLineEnd(out);
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
        public void encode(ByteBuf out, boolean resp3) {
            if (!resp3) {
                Bulk.of(text).encode(out, resp3);
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
        public void encode(ByteBuf out, boolean resp3) {
            ByteBufUtil.writeAscii(out, resp3 ? "_\r\n" : inResp2);
        }
    }

    /**
     * Several replies: an array, a map of alternating names and values, a set, or a push message, which is not a reply
     * to a request; always an array in RESP 2.
     *
     * @param type the type in RESP 3
     */
    record Array(char type, List<? extends Reply> elements) implements Reply {
        public static final Array EMPTY = new Array(List.of());

        private static final char ARRAY = '*';
        private static final char MAP = '%';
        /** The type of several replies that follow each other. */
        private static final char NO_HEADER = 0;

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

        /** Creates several consecutive replies to one request. */
        public static Array sequence(List<? extends Reply> replies) {
            return new Array(NO_HEADER, replies);
        }

        public static Array set(List<? extends Reply> elements) {
            return new Array('~', elements);
        }

        @Override
        public void encode(ByteBuf out, boolean resp3) {
            if (type != NO_HEADER) {
                int count = resp3 && type == MAP ? elements.size() / 2 : elements.size();
                putNumber(out, resp3 ? type : ARRAY, count);
            }
            elements.forEach(element -> element.encode(out, resp3));
        }

        @Override
        public long heldBytes() {
            return OBJECT_BYTES + elements.stream().mapToLong(Reply::heldBytes).sum();
        }
    }
}
