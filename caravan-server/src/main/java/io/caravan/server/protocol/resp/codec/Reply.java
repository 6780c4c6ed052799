package io.caravan.server.protocol.resp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An answer, in the terms of RESP 3. What RESP 2 has no type for is told in the nearest that it has, as Redis does. */
public sealed interface Reply {
    /** The usual answer of a command that has nothing to tell. */
    Reply OK = new Simple("OK");

    /** Memory of an answer besides its text or bytes, about. */
    int OBJECT_BYTES = 48;

    /** Writes the answer as it goes over the wire to a connection that speaks this version. */
    void encode(ByteBuf out, Protocol protocol);

    /** What the answer takes in memory, about. */
    default long heldBytes() {
        return OBJECT_BYTES;
    }

    /** A plain value as an answer: a whole number, yes or no, a text, bytes, or null; a reply stays as it is. */
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
        return value == null ? Null.BULK : Bulk.of((String) value);
    }

    private static long heldBytes(Collection<? extends Reply> elements) {
        long bytes = OBJECT_BYTES;
        for (Reply element : elements) {
            bytes += element.heldBytes();
        }
        return bytes;
    }

    /** A short text without line ends. */
    record Simple(String text) implements Reply {
        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            out.writeByte('+');
            RespBytes.putLine(out, text);
        }

        @Override
        public long heldBytes() {
            return OBJECT_BYTES + text.length();
        }
    }

    /**
     * An error: a word in capitals that programs look at, and a text for people. Line ends in it become spaces.
     *
     * @param text both
     */
    record Error(String text) implements Reply {
        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            out.writeByte('-');
            RespBytes.putLine(out, text.replace('\r', ' ').replace('\n', ' '));
        }

        @Override
        public long heldBytes() {
            return OBJECT_BYTES + text.length();
        }
    }

    /** A whole number. */
    record Number(long value) implements Reply {
        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            RespBytes.putNumber(out, ':', value);
        }
    }

    /** Yes or no; 1 or 0 in RESP 2. */
    record Bool(boolean value) implements Reply {
        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            if (protocol == Protocol.RESP2) {
                RespBytes.putNumber(out, ':', value ? 1 : 0);
            } else {
                ByteBufUtil.writeAscii(out, value ? "#t\r\n" : "#f\r\n");
            }
        }
    }

    /** A byte string. */
    record Bulk(byte[] value) implements Reply {
        public static Bulk of(String text) {
            return new Bulk(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            RespBytes.putBulk(out, value);
        }

        @Override
        public long heldBytes() {
            return OBJECT_BYTES + value.length;
        }
    }

    /** A text for people to read; a byte string in RESP 2. */
    record Verbatim(String text) implements Reply {
        private static final String FORMAT = "txt:";

        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            if (protocol == Protocol.RESP2) {
                Bulk.of(text).encode(out, protocol);
                return;
            }
            byte[] bytes = (FORMAT + text).getBytes(StandardCharsets.UTF_8);
            RespBytes.putNumber(out, '=', bytes.length);
            out.writeBytes(bytes);
            RespBytes.putLineEnd(out);
        }

        @Override
        public long heldBytes() {
            return OBJECT_BYTES + text.length();
        }
    }

    /** No value; RESP 2 has one in place of a byte string and one in place of an array. */
    enum Null implements Reply {
        BULK("$-1\r\n"),
        ARRAY("*-1\r\n");

        private final String inResp2;

        Null(String inResp2) {
            this.inResp2 = inResp2;
        }

        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            ByteBufUtil.writeAscii(out, protocol == Protocol.RESP2 ? inResp2 : "_\r\n");
        }
    }

    /** Several answers in one. */
    record Array(List<? extends Reply> elements) implements Reply {
        public static final Array EMPTY = new Array(List.of());

        /** An array of plain values, see {@link Reply#of}. */
        public static Array of(@Nullable Object... values) {
            return new Array(Arrays.stream(values).map(Reply::of).toList());
        }

        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            RespBytes.putNumber(out, '*', elements.size());
            elements.forEach(element -> element.encode(out, protocol));
        }

        @Override
        public long heldBytes() {
            return Reply.heldBytes(elements);
        }
    }

    /** An array of byte strings. */
    record Values(List<byte[]> values) implements Reply {
        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            RespBytes.putNumber(out, '*', values.size());
            values.forEach(value -> RespBytes.putBulk(out, value));
        }

        @Override
        public long heldBytes() {
            long bytes = OBJECT_BYTES;
            for (byte[] value : values) {
                bytes += OBJECT_BYTES + value.length;
            }
            return bytes;
        }
    }

    /** What is told without having been asked for; an array in RESP 2. */
    record Push(List<? extends Reply> elements) implements Reply {
        /** A push of plain values, see {@link Reply#of}. */
        public static Push of(@Nullable Object... values) {
            return new Push(Array.of(values).elements());
        }

        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            RespBytes.putNumber(out, protocol == Protocol.RESP2 ? '*' : '>', elements.size());
            elements.forEach(element -> element.encode(out, protocol));
        }

        @Override
        public long heldBytes() {
            return Reply.heldBytes(elements);
        }
    }

    /** Several answers to one request, one after the other. */
    record Sequence(List<? extends Reply> replies) implements Reply {
        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            replies.forEach(reply -> reply.encode(out, protocol));
        }

        @Override
        public long heldBytes() {
            return Reply.heldBytes(replies);
        }
    }

    /** Several answers in no order; an array in RESP 2. */
    record Set(List<? extends Reply> elements) implements Reply {
        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            RespBytes.putNumber(out, protocol == Protocol.RESP2 ? '*' : '~', elements.size());
            elements.forEach(element -> element.encode(out, protocol));
        }

        @Override
        public long heldBytes() {
            return Reply.heldBytes(elements);
        }
    }

    /**
     * Answers by name; in RESP 2 an array of names, each followed by its answer.
     *
     * @param entries in the order in which they are told
     */
    record Fields(Map<String, Reply> entries) implements Reply {
        /** Fields of plain values, see {@link Reply#of}: each name is followed by its value. */
        public static Fields of(@Nullable Object... namesAndValues) {
            Map<String, Reply> entries = new LinkedHashMap<>();
            for (int i = 0; i < namesAndValues.length; i += 2) {
                entries.put((String) Objects.requireNonNull(namesAndValues[i]), Reply.of(namesAndValues[i + 1]));
            }
            return new Fields(entries);
        }

        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            int size = entries.size();
            RespBytes.putNumber(
                    out, protocol == Protocol.RESP2 ? '*' : '%', protocol == Protocol.RESP2 ? 2 * size : size);
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

    /**
     * An answer in a version that the connection speaks from this answer on.
     *
     * @param version takes the place of the connection's
     */
    record InVersion(Protocol version, Reply reply) implements Reply {
        @Override
        public void encode(ByteBuf out, Protocol protocol) {
            reply.encode(out, version);
        }

        @Override
        public long heldBytes() {
            return reply.heldBytes();
        }
    }
}
