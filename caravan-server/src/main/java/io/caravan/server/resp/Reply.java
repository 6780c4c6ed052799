package io.caravan.server.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** An answer, in the terms of RESP 2. */
sealed interface Reply {
    /** The usual answer of a command that has nothing to tell. */
    Reply OK = new Simple("OK");

    /** Writes the answer as it goes over the wire. */
    void encode(ByteBuf out);

    /** A short text without line ends. */
    record Simple(String text) implements Reply {
        @Override
        public void encode(ByteBuf out) {
            out.writeByte('+');
            RespBytes.putLine(out, text);
        }
    }

    /**
     * An error: a word in capitals that programs look at, and a text for people. Line ends in it become spaces.
     *
     * @param text both
     */
    record Error(String text) implements Reply {
        @Override
        public void encode(ByteBuf out) {
            out.writeByte('-');
            RespBytes.putLine(out, text.replace('\r', ' ').replace('\n', ' '));
        }
    }

    /** A whole number. */
    record Number(long value) implements Reply {
        @Override
        public void encode(ByteBuf out) {
            RespBytes.putNumber(out, ':', value);
        }
    }

    /** A byte string. */
    record Bulk(byte[] value) implements Reply {
        static Bulk of(String text) {
            return new Bulk(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void encode(ByteBuf out) {
            RespBytes.putNumber(out, '$', value.length);
            out.writeBytes(value);
            RespBytes.putLineEnd(out);
        }
    }

    /** No value. */
    enum Null implements Reply {
        INSTANCE;

        @Override
        public void encode(ByteBuf out) {
            ByteBufUtil.writeAscii(out, "$-1\r\n");
        }
    }

    /** Several answers in one. */
    record Array(List<Reply> elements) implements Reply {
        static final Array EMPTY = new Array(List.of());

        @Override
        public void encode(ByteBuf out) {
            RespBytes.putNumber(out, '*', elements.size());
            elements.forEach(element -> element.encode(out));
        }
    }
}
