package io.caravan.bench.network;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.function.LongConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads server-sent events, and reconnects when the server ends the event stream.
 *
 * <p>A data event's values are on one line, because our values contain no line breaks; the control event after it has
 * the offset.
 */
final class EventStreamTail extends Tail {
    static final String MODE = "sse";

    private static final byte LINE_END = '\n';
    private static final String EVENT = "event:";
    private static final String DATA = "data:";
    private static final String CONTROL = "control";
    private static final Pattern NEXT_OFFSET = Pattern.compile("\"streamNextOffset\":\"([^\"]+)\"");

    private final ByteBuf received = Unpooled.buffer();
    private boolean control;

    EventStreamTail(HttpLink link, String stream, String offset, LongConsumer stamps) {
        super(link, stream, MODE, offset, stamps);
    }

    @Override
    void take(ByteBuf bytes) {
        received.writeBytes(bytes);
        for (int length = received.bytesBefore(LINE_END); length >= 0; length = received.bytesBefore(LINE_END)) {
            line(received.readSlice(length));
            received.skipBytes(1);
        }
        received.discardSomeReadBytes();
    }

    private void line(ByteBuf line) {
        if (startsWith(line, EVENT)) {
            control = line.toString(StandardCharsets.US_ASCII).endsWith(CONTROL);
        } else if (startsWith(line, DATA)) {
            line.skipBytes(DATA.length());
            if (control) {
                follow(line.toString(StandardCharsets.UTF_8));
            } else {
                tell(withoutSpace(line));
            }
        }
    }

    private void follow(String fields) {
        Matcher next = NEXT_OFFSET.matcher(fields);
        if (next.find()) {
            moveTo(next.group(1));
        }
    }

    /** One space after the colon is part of the format. */
    private static ByteBuf withoutSpace(ByteBuf line) {
        return line.isReadable() && line.getByte(line.readerIndex()) == ' ' ? line.skipBytes(1) : line;
    }

    private static boolean startsWith(ByteBuf line, String text) {
        return line.readableBytes() >= text.length()
                && line.toString(line.readerIndex(), text.length(), StandardCharsets.US_ASCII)
                        .equals(text);
    }

    @Override
    void complete() {
        received.clear();
    }
}
