package io.caravan.server.protocol.resp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/** The pieces that RESP is made of. */
public final class RespBytes {
    private static final int LINE_END = '\r' << Byte.SIZE | '\n';

    /** Type, sign, digits and line end of the longest number. */
    private static final int MAX_NUMBER_BYTES = 1 + 1 + 19 + 2;

    private RespBytes() {}

    public static void putLineEnd(ByteBuf out) {
        out.writeShort(LINE_END);
    }

    static void putBulk(ByteBuf out, byte[] value) {
        putNumber(out, '$', value.length);
        out.writeBytes(value);
        putLineEnd(out);
    }

    /** Writes a text, which holds no line end, and ends the line. */
    static void putLine(ByteBuf out, String text) {
        ByteBufUtil.writeUtf8(out, text);
        putLineEnd(out);
    }

    /** Writes a line of a type and a number, in one go: the answer to most requests is one. */
    public static void putNumber(ByteBuf out, char type, long number) {
        byte[] line = new byte[MAX_NUMBER_BYTES];
        int at = MAX_NUMBER_BYTES;
        line[--at] = '\n';
        line[--at] = '\r';
        // Digits of the negative, which every number has.
        long rest = number < 0 ? number : -number;
        do {
            line[--at] = (byte) ('0' - rest % 10);
            rest /= 10;
        } while (rest != 0);
        if (number < 0) {
            line[--at] = '-';
        }
        line[--at] = (byte) type;
        out.writeBytes(line, at, MAX_NUMBER_BYTES - at);
    }
}
