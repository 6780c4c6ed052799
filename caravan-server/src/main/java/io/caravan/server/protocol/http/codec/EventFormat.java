package io.caravan.server.protocol.http.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes server-sent events. Each line of data gets its own field, wherever a client may see a line end (LF, CR or
 * both), so no value can end its event and begin another.
 */
public final class EventFormat {
    private static final byte[] DATA_EVENT = ascii("event: data\n");
    private static final byte[] CONTROL_EVENT = ascii("event: control\n");
    private static final byte[] FIELD = ascii("data:");

    private EventFormat() {}

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Adds an event of values, as text or in base64. */
    public static void putData(ByteBuf out, ByteBuf values, boolean text) {
        out.writeBytes(DATA_EVENT);
        if (text) {
            putLines(out, values);
        } else {
            out.writeBytes(FIELD);
            out.writeBytes(Base64.getEncoder().encode(ByteBufUtil.getBytes(values)));
            out.writeByte('\n');
        }
        out.writeByte('\n');
    }

    private static void putLines(ByteBuf out, ByteBuf values) {
        int end = values.writerIndex();
        int from = values.readerIndex();
        while (true) {
            int to = lineEnd(values, from, end);
            putField(out, values, from, to);
            if (to == end) {
                return;
            }
            boolean both = values.getByte(to) == '\r' && to + 1 < end && values.getByte(to + 1) == '\n';
            from = to + (both ? 2 : 1);
        }
    }

    private static int lineEnd(ByteBuf values, int from, int end) {
        int found = values.forEachByte(from, end - from, b -> b != '\n' && b != '\r');
        return found < 0 ? end : found;
    }

    /** A client drops one space after the colon, so a line that begins with a space gets another. */
    private static void putField(ByteBuf out, ByteBuf values, int from, int to) {
        out.writeBytes(FIELD);
        if (to > from && values.getByte(from) == ' ') {
            out.writeByte(' ');
        }
        out.writeBytes(values, from, to - from);
        out.writeByte('\n');
    }

    /** Adds the event that gives the client its position; {@code closed} if it has all of a closed stream. */
    public static void putControl(ByteBuf out, String offset, String cursor, boolean upToDate, boolean closed) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("streamNextOffset", offset);
        if (!closed) {
            fields.put("streamCursor", cursor);
        }
        if (upToDate) {
            fields.put("upToDate", true);
        }
        if (closed) {
            fields.put("streamClosed", true);
        }
        out.writeBytes(CONTROL_EVENT);
        out.writeBytes(FIELD);
        out.writeBytes(Answer.jsonBytes(fields));
        out.writeByte('\n');
        out.writeByte('\n');
    }
}
