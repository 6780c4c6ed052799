package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.EventFormat;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.StreamHeaders;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Server-sent events with a stream's values, first those present, then new ones, until the stream is closed or the time
 * is over. The next values are read when the client has read the last ones. Looks and the event loop use the fields in
 * turn.
 */
final class EventStream extends LiveRead {
    private static final int SLICE_BYTES = 64 * 1024;

    private @Nullable DocumentInfo begun;
    private long next;

    EventStream(ReadRequest request) {
        super(request);
    }

    @Override
    void look(boolean last) {
        DocumentInfo first = begun;
        DocumentInfo info = first == null ? request.use() : findAgain(first.id());
        if (info == null) {
            exchange.loop().execute(exchange::finish);
            return;
        }
        if (first == null) {
            next = request.offset().in(info);
            begun = info;
            Answer head = head(info);
            exchange.loop().execute(() -> exchange.start(head));
        }
        send(info, first == null, last);
    }

    /** The document, or null when it was deleted or replaced: the client will reconnect, and get the reason. */
    private @Nullable DocumentInfo findAgain(long id) {
        DocumentInfo info = request.documents().find(request.name());
        return info == null || info.id() != id ? null : info;
    }

    private Answer head(DocumentInfo info) {
        Answer head =
                new Answer(200).header("Content-Type", "text/event-stream").header("Cache-Control", "no-cache");
        return ContentTypes.isText(info.attributes().contentType())
                ? head
                : head.header(StreamHeaders.SSE_DATA_ENCODING, "base64");
    }

    private void send(DocumentInfo info, boolean first, boolean last) {
        ByteBuf events = ByteBufAllocator.DEFAULT.ioBuffer();
        boolean passedOn = false;
        try {
            boolean some = putValues(info, events);
            boolean atTail = next == info.nextSequence();
            boolean closed = atTail && info.attributes().closed();
            if (some || first || closed) {
                EventFormat.putControl(events, Offset.of(next), request.nextCursor(), atTail, closed);
            }
            exchange.loop().execute(() -> write(events, atTail, closed || last));
            passedOn = true;
        } finally {
            if (!passedOn) {
                events.release();
            }
        }
    }

    private boolean putValues(DocumentInfo info, ByteBuf events) {
        if (next == info.nextSequence()) {
            return false;
        }
        SliceReader slice = new SliceReader(info, SLICE_BYTES, next, true);
        try {
            if (!slice.read(request)) {
                throw SliceReader.changedMeanwhile(request.name());
            }
            slice.end();
            EventFormat.putData(
                    events, slice.bytes(), ContentTypes.isText(info.attributes().contentType()));
            next = slice.nextSequence();
            return true;
        } finally {
            slice.bytes().release();
        }
    }

    private void write(ByteBuf events, boolean atTail, boolean end) {
        exchange.write(events);
        if (end) {
            exchange.finish();
        } else {
            exchange.whenWritable(atTail ? this::rest : this::again);
        }
    }
}
