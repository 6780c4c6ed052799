package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.net.FatalErrors;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ByteProcessor;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
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
    private static final byte[] CONTROL_EVENT = ascii("event: control\ndata:");
    private static final byte[] FIELD = ascii("data:");

    private final ReadRequest request;
    /** Whether the last values are held back until a character is complete. */
    private boolean held;

    private @Nullable SharedRead shared;

    EventStream(ReadRequest request) {
        super(request.exchange, 1);
        this.request = request;
        streams.put(request.name, request);
    }

    /**
     * Events for a client, and the client's position after them.
     *
     * @param heldBytes this client's share of the buffer's capacity
     * @param behind whether the stream then has more values for the client, besides those that are held back
     * @param over whether the stream is closed, and the client then has all of its values, or the stream does not exist
     */
    record Events(ByteBuf bytes, int heldBytes, long next, boolean behind, boolean over) {
        /** Returns the same events for one of several clients, with a buffer that is released separately. */
        Events share(int clients) {
            return new Events(bytes.retainedDuplicate(), heldBytes / clients, next, behind, over);
        }
    }

    @Override
    void check(List<DocumentName> names) {
        boolean last = names.isEmpty();
        if (!request.known()) {
            exchange.read(() -> send(readFirst(), last));
        } else if (last) {
            exchange.read(() -> send(read(), true));
        } else {
            exchange.read(() -> send(Objects.requireNonNull(shared).events(this), false), this::join);
        }
    }

    private void join(Runnable turn) {
        SharedRead.Position position = new SharedRead.Position(
                request.documents, request.name, request.documentId, request.next, request.cursor);
        SharedRead.join(position, exchange.protocol, joined -> shared = joined, turn);
    }

    private void send(Events events, boolean last) {
        request.next = events.next;
        request.behind = events.behind;
        request.over = events.over || last;
        send(events.bytes, events.heldBytes, List.of(request), List.of());
    }

    private Events readFirst() {
        DocumentInfo info = request.get();
        Response head = events();
        if (!ContentTypes.isText(info.attributes().contentType())) {
            head.header(StreamHeaders.SSE_DATA_ENCODING, "base64");
        }
        exchange.loop().execute(() -> startEvents(head));
        return read(info, true);
    }

    private Events read() {
        DocumentInfo info = request.find();
        // The client receives the reason when it reconnects.
        return info == null ? new Events(Unpooled.EMPTY_BUFFER, 0, request.next, false, true) : read(info, false);
    }

    private Events read(DocumentInfo info, boolean first) {
        ByteBuf events = HttpExchange.beginChunk();
        try {
            boolean some = putValues(info, events);
            boolean atTail = held || request.next == info.nextSequence();
            boolean closed = atTail && info.attributes().closed();
            if (some || first || closed) {
                put(
                        events,
                        CONTROL_EVENT,
                        Response.present(
                                "streamNextOffset", Offset.of(request.next),
                                "streamCursor", closed ? null : request.nextCursor(),
                                "upToDate", atTail ? true : null,
                                "streamClosed", closed ? true : null));
                HttpExchange.endChunk(events);
            }
            return new Events(events, events.capacity(), request.next, !atTail, closed);
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
            request.read(info, slice);
            if (slice.next == request.next) {
                throw request.changedDuringRead();
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

    private static void putData(ByteBuf out, ByteBuf values, boolean text) {
        out.writeBytes(DATA_EVENT);
        if (text) {
            putLines(out, values);
        } else {
            out.writeBytes(FIELD);
            out.writeBytes(Base64.getEncoder().encode(values.nioBuffer()));
            out.writeByte('\n');
        }
        out.writeByte('\n');
    }

    private static void putLines(ByteBuf out, ByteBuf values) {
        int end = values.writerIndex();
        int from = values.readerIndex();
        for (int to = lineEnd(values, from); to < end; to = lineEnd(values, from)) {
            putField(out, values, from, to);
            boolean both = values.getByte(to) == '\r' && to + 1 < end && values.getByte(to + 1) == '\n';
            from = to + (both ? 2 : 1);
        }
        putField(out, values, from, end);
    }

    private static int lineEnd(ByteBuf values, int from) {
        int end = values.writerIndex();
        int found = values.forEachByte(from, end - from, ByteProcessor.FIND_CRLF);
        return found < 0 ? end : found;
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

    /**
     * A read that the event streams at one position share. Their turns run one after the other on a reading thread: the
     * first one reads the events, and all of them send these events. Streams can join until the first turn begins, so
     * that the events contain every value that was durable when a stream joined.
     */
    static final class SharedRead {
        private final List<Runnable> turns = new ArrayList<>();
        private @Nullable Events events;

        /** Everything that determines the events that a client receives next. */
        record Position(
                DocumentService documents,
                DocumentName name,
                long documentId,
                long next,
                @Nullable String cursor) {}

        /** Adds the turn of a stream. Calls {@code joined} before the turn can begin. */
        static SharedRead join(Position position, HttpProtocol protocol, Consumer<SharedRead> joined, Runnable turn) {
            return protocol.sharedReads.compute(position, (at, waiting) -> {
                SharedRead shared = waiting == null ? new SharedRead() : waiting;
                joined.accept(shared);
                if (waiting == null) {
                    protocol.readers.execute(() -> {
                        // From now on, no stream can join.
                        protocol.sharedReads.remove(at);
                        shared.runTurns();
                    });
                }
                shared.turns.add(turn);
                return shared;
            });
        }

        private void runTurns() {
            try {
                turns.forEach(SharedRead::runTurn);
            } finally {
                if (events != null) {
                    events.bytes().release();
                }
            }
        }

        /** Runs a turn. An {@link Error} ends the exchange of its stream, which logs it, but not the other turns. */
        private static void runTurn(Runnable turn) {
            try {
                turn.run();
            } catch (Error broken) {
                FatalErrors.report(broken);
            }
        }

        /** Returns the events for a turn, which releases them. */
        private Events events(EventStream stream) {
            if (events == null) {
                events = stream.read();
            }
            return events.share(turns.size());
        }
    }
}
