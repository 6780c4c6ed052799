package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.DocumentInfo;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.ByteProcessor;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sends the values of a stream as server-sent events: first the existing values, and then new ones, until the stream is
 * closed or a time limit is reached. The next values are read when the client has received the previous ones. Checks
 * and the event loop take turns using the fields.
 *
 * <p>A text event ends with a complete character, because clients decode each event separately. A value that ends
 * within a character is sent together with the value that completes the character, or when the stream is closed.
 *
 * <p>Each line of a value gets its own {@code data:} field; LF, CR, and CRLF count as line ends. A value therefore
 * cannot end its event and begin another one.
 */
final class EventStream extends LiveRead {
    private static final int SLICE_BYTES = 64 * 1024;
    private static final byte[] DATA_EVENT = ascii("event: data\n");
    private static final byte[] CONTROL_EVENT = ascii("event: control\n");
    private static final byte[] FIELD = ascii("data:");

    private final ReadRequest request;
    /** Whether the last values are held back until a character is complete. */
    private boolean held;
    /** The streams with which this stream shares its next read. */
    private @Nullable SharedEvents shared;

    EventStream(ReadRequest request) {
        super(request.exchange, request.documents, 1);
        this.request = request;
    }

    /**
     * Events for a client, and the client's position after them.
     *
     * @param heldBytes this client's share of the buffer's capacity
     * @param atTail whether the client then has all values, except those that are held back
     * @param closed whether the stream is closed and the client then has all of its values
     */
    record Events(ByteBuf bytes, int heldBytes, long next, boolean atTail, boolean closed) {
        /** Returns the same events for one of several clients, with a buffer that is released separately. */
        Events share(int clients) {
            return new Events(bytes.retainedDuplicate(), heldBytes / clients, next, atTail, closed);
        }
    }

    @Override
    void check(List<DocumentName> names) {
        if (names.isEmpty() || !request.known()) {
            exchange.read(() -> readAlone(names.isEmpty()));
        } else {
            exchange.read(() -> send(Objects.requireNonNull(shared).events(this), false), this::join);
        }
    }

    /** Runs a turn of this stream after those of the other streams that wait at the same position. */
    private void join(Runnable turn) {
        SharedEvents.join(request.position(), exchange.protocol, joined -> shared = joined, turn);
    }

    private void readAlone(boolean last) {
        if (request.known()) {
            send(read(), last);
            return;
        }
        DocumentInfo info = request.get();
        Response head = events();
        if (!ContentTypes.isText(info.attributes().contentType())) {
            head.header(StreamHeaders.SSE_DATA_ENCODING, "base64");
        }
        exchange.loop().execute(() -> startEvents(head));
        send(read(info, true), last);
    }

    private void send(@Nullable Events events, boolean last) {
        if (events == null) {
            // The client receives the reason when it reconnects.
            exchange.loop().execute(exchange::finish);
            return;
        }
        request.next = events.next;
        exchange.onLoop(
                events.bytes, events.heldBytes, () -> write(events.bytes, events.atTail, events.closed || last));
    }

    /** Returns the next events, or null if the document no longer exists. */
    @Nullable
    Events read() {
        DocumentInfo info = request.find();
        return info == null ? null : read(info, false);
    }

    private Events read(DocumentInfo info, boolean first) {
        ByteBuf events = ByteBufAllocator.DEFAULT.ioBuffer();
        try {
            boolean some = putValues(info, events);
            boolean atTail = held || request.next == info.nextSequence();
            boolean closed = atTail && info.attributes().closed();
            if (some || first || closed) {
                putControl(events, Offset.of(request.next), request.nextCursor(), atTail, closed);
            }
            return new Events(events, events.capacity(), request.next, atTail, closed);
        } catch (Throwable problem) {
            events.release();
            throw problem;
        }
    }

    private boolean putValues(DocumentInfo info, ByteBuf events) {
        held = false;
        if (request.next == info.nextSequence()) {
            return false;
        }
        boolean text = ContentTypes.isText(info.attributes().contentType());
        SliceReader slice = new SliceReader(info, SLICE_BYTES, request.next, true, text);
        try {
            if (!slice.read(request)) {
                throw SliceReader.changedDuringRead(request.name);
            }
            held = slice.cutToWhole();
            if (slice.next == request.next) {
                return false;
            }
            slice.end();
            putData(events, slice.bytes, text);
            request.next = slice.next;
            return true;
        } finally {
            slice.bytes.release();
        }
    }

    private void write(ByteBuf events, boolean atTail, boolean end) {
        exchange.write(events);
        if (end) {
            exchange.finish();
        } else {
            exchange.whenWritable(() -> wait.checked(atTail ? List.of() : List.of(request.name)));
        }
    }

    /** Adds an event with values, as text or in Base64. */
    private static void putData(ByteBuf out, ByteBuf values, boolean text) {
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
            int found = values.forEachByte(from, end - from, ByteProcessor.FIND_CRLF);
            int to = found < 0 ? end : found;
            putField(out, values, from, to);
            if (to == end) {
                return;
            }
            boolean both = values.getByte(to) == '\r' && to + 1 < end && values.getByte(to + 1) == '\n';
            from = to + (both ? 2 : 1);
        }
    }

    /** Adds a data line. Clients remove a space after the colon, so a line that starts with one gets another space. */
    private static void putField(ByteBuf out, ByteBuf values, int from, int to) {
        out.writeBytes(FIELD);
        if (to > from && values.getByte(from) == ' ') {
            out.writeByte(' ');
        }
        out.writeBytes(values, from, to - from);
        out.writeByte('\n');
    }

    /** Adds the event with the client's position; if {@code closed}, the client has all values of a closed stream. */
    private static void putControl(ByteBuf out, String offset, String cursor, boolean upToDate, boolean closed) {
        Map<String, Object> fields = Response.fields("streamNextOffset", offset);
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
        out.writeBytes(Response.jsonBytes(fields));
        out.writeByte('\n');
        out.writeByte('\n');
    }
}
