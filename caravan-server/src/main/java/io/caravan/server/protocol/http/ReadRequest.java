package io.caravan.server.protocol.http;

import io.caravan.server.document.DocumentInfo;
import io.netty.buffer.ByteBuf;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A client's request to read a stream, and the transfer of the values that the stream has. The values are sent in
 * slices; the next slice is read when the client has received most of the previous one, and no thread waits.
 *
 * <p>If the values are trimmed or the document is deleted during the transfer, the connection is closed, which HTTP
 * clients detect as an error. The reading thread and the event loop take turns using the fields.
 */
final class ReadRequest extends StreamPosition {
    private static final int SLICE_BYTES = 128 * 1024;

    private static final long CURSOR_EPOCH_SECONDS =
            Instant.parse("2024-10-09T00:00:00Z").getEpochSecond();
    private static final long CURSOR_SECONDS = 20;
    private static final long MAX_JITTER_SECONDS = 3600;
    /** The maximum length of a cursor. Longer cursors are ignored, to prevent an overflow. */
    private static final int MAX_CURSOR_DIGITS = 15;

    final HttpExchange exchange;
    /** The cursor from the last live response, or null. */
    final @Nullable String cursor;

    private boolean begun;

    ReadRequest(HttpExchange exchange) {
        super(
                exchange.documents(),
                exchange.documentName(),
                Offset.parse(exchange.request.parameter("offset"), "offset"));
        this.exchange = exchange;
        this.cursor = exchange.request.parameter("cursor");
    }

    /**
     * Returns the cursor of a live response, which prevents caches from serving the same response forever. A cursor is
     * the number of the current interval of {@value #CURSOR_SECONDS} seconds, but always greater than the cursor that
     * the client sent. Invalid text from the client is ignored.
     */
    String nextCursor() {
        long current = Math.floorDiv(Instant.now().getEpochSecond() - CURSOR_EPOCH_SECONDS, CURSOR_SECONDS);
        long last = cursor != null && cursor.length() <= MAX_CURSOR_DIGITS ? Request.parse(cursor) : -1;
        if (last < current) {
            return Long.toString(current);
        }
        long jitterSeconds = 1 + ThreadLocalRandom.current().nextLong(MAX_JITTER_SECONDS);
        return Long.toString(last + (jitterSeconds + CURSOR_SECONDS - 1) / CURSOR_SECONDS);
    }

    /** Returns the head of the response to a read up to the end, for caches if the URL does not say {@code now}. */
    Response head(DocumentInfo info, String caching) {
        Response head = Response.of(200, info)
                .header("Content-Type", info.attributes().contentType())
                .header(StreamHeaders.FIRST_OFFSET, Offset.of(info.firstSequence()))
                .flag(StreamHeaders.UP_TO_DATE, true);
        // With 'now', the same URL returns other values for the next request.
        return offset.isNow()
                ? head.uncached()
                : head.header("Cache-Control", caching).header("ETag", etag(info, next));
    }

    /** Returns a tag that identifies the values from {@code from} to the end, and this creation of the document. */
    static String etag(DocumentInfo info, long from) {
        String tag = info.id() + ":" + from + ":" + info.nextSequence();
        return '"' + tag + (info.attributes().closed() ? ":c\"" : "\"");
    }

    /** Sends the values from the position to before {@code info.nextSequence()}. Called on a reading thread. */
    void send(DocumentInfo info, Response head) {
        SliceReader slice = new SliceReader(info, SLICE_BYTES, next, !begun, false);
        try {
            boolean some = next < info.nextSequence();
            if (some) {
                read(info, slice);
            }
            if (some && slice.next == next) {
                if (!begun) {
                    // Nothing was sent yet, so the response can still report that the offset was trimmed.
                    offset.in(get());
                }
                throw changedDuringRead();
            }
            next = slice.next;
            boolean last = next == info.nextSequence();
            if (last) {
                slice.end();
            }
            exchange.onLoop(slice.bytes, slice.bytes.capacity(), () -> send(info, head, slice.bytes, last));
        } catch (Throwable problem) {
            slice.bytes.release();
            throw problem;
        }
    }

    private void send(DocumentInfo info, Response head, ByteBuf bytes, boolean last) {
        if (!begun && last) {
            exchange.respond(head, bytes);
            return;
        }
        if (!begun) {
            begun = true;
            exchange.start(head);
        }
        exchange.write(bytes);
        if (last) {
            exchange.finish();
        } else {
            exchange.whenWritable(() -> exchange.read(() -> send(info, head)));
        }
    }
}
