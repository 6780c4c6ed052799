package io.caravan.server.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/** The pieces that RESP is made of. */
final class RespBytes {
    private static final int LINE_END = '\r' << Byte.SIZE | '\n';

    private RespBytes() {}

    static void putLineEnd(ByteBuf out) {
        out.writeShort(LINE_END);
    }

    /** Writes a text, which holds no line end, and ends the line. */
    static void putLine(ByteBuf out, String text) {
        ByteBufUtil.writeUtf8(out, text);
        putLineEnd(out);
    }

    /** Writes a line of a type and a number. */
    static void putNumber(ByteBuf out, char type, long number) {
        out.writeByte(type);
        if (number >= 0 && number < 10) {
            out.writeByte((int) ('0' + number));
        } else {
            ByteBufUtil.writeAscii(out, Long.toString(number));
        }
        putLineEnd(out);
    }
}
