package io.caravan.server.protocol.resp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/** Encodes the elements of RESP. */
public final class RespBytes {
    private static final int LINE_END = '\r' << Byte.SIZE | '\n';

    /** Length of the longest line with a number: type, sign, digits, and line end. */
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

    /** Writes a text, which must not contain a line end, and a line end. */
    static void putLine(ByteBuf out, String text) {
        ByteBufUtil.writeUtf8(out, text);
        putLineEnd(out);
    }

    /** Writes a type and a number as a line. Uses a single write, because most replies are such lines. */
    public static void putNumber(ByteBuf out, char type, long number) {
        byte[] line = new byte[MAX_NUMBER_BYTES];
        int at = MAX_NUMBER_BYTES;
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
        out.writeBytes(line, at, MAX_NUMBER_BYTES - at);
    }
}
