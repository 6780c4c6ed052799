package io.caravan.server.protocol.http;

import io.caravan.server.document.DocumentInfo;
import io.netty.buffer.ByteBuf;

/**
 * Sends a document's values in slices, from a sequence to the end that the document had when the transfer started. The
 * next slice is read when the client has received most of the previous one; no thread waits.
 *
 * <p>If the values are trimmed or the document is deleted during the transfer, the connection is closed, which HTTP
 * clients detect as an error. The reading thread and the event loop take turns using the fields.
 */
final class CatchUpRead {
    private static final int SLICE_BYTES = 128 * 1024;

    private final ReadRequest request;
    private final HttpExchange exchange;
    private final DocumentInfo info;
    private final Response head;
    private long next;
    private boolean begun;

    /** Creates a transfer of the values from {@code from} up to, but not including, {@code info.nextSequence()}. */
    CatchUpRead(ReadRequest request, DocumentInfo info, long from, Response head) {
        this.request = request;
        this.exchange = request.exchange();
        this.info = info;
        this.head = head;
        this.next = from;
    }

    /** Reads the next slice. Called on a reading thread. */
    void read() {
        SliceReader slice = new SliceReader(info, SLICE_BYTES, next, !begun);
        try {
            if (next < info.nextSequence() && !slice.read(request)) {
                if (!begun) {
                    // Nothing was sent yet, so the response can still report that the offset was trimmed.
                    request.offset().in(request.findAgain(info.id()));
                }
                throw SliceReader.changedDuringRead(request.name());
            }
            next = slice.nextSequence();
            boolean last = next == info.nextSequence();
            if (last) {
                slice.end();
            }
            exchange.onLoop(slice.bytes(), () -> send(slice.bytes(), last));
        } catch (Throwable problem) {
            slice.bytes().release();
            throw problem;
        }
    }

    private void send(ByteBuf bytes, boolean last) {
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
            exchange.whenWritable(() -> request.run(this::read));
        }
    }
}
