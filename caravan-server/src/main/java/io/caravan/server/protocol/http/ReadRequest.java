package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A client's request to read a stream, and the transfer of the values that the stream has. The values are sent in
 * slices; the next slice is read when the client has received most of the previous one, and no thread waits.
 *
 * <p>If the values are trimmed or the document is deleted during the transfer, the connection is closed, which HTTP
 * clients detect as an error. The reading thread and the event loop take turns using the fields.
 */
final class ReadRequest {
    private static final int SLICE_BYTES = 128 * 1024;

    final HttpExchange exchange;
    final DocumentService documents;
    final DocumentName name;
    final Offset offset;
    /** The cursor from the last live response, or null. */
    private final @Nullable String cursor;

    private long next;
    private boolean begun;

    ReadRequest(HttpExchange exchange) {
        Query query = exchange.request().query();
        this.exchange = exchange;
        this.documents = exchange.documents();
        this.name = exchange.documentName();
        this.offset = Offset.parse(query.get("offset"), "offset");
        this.cursor = query.get("cursor");
    }

    /**
     * Returns the document, and extends its sliding expiry because it is being read. Throws {@link Problem} if the
     * document does not exist.
     */
    DocumentInfo use() {
        DocumentInfo info = find(documents, name);
        documents.use(name, info);
        return info;
    }

    /** Returns the current state of the document. Throws {@link Problem} if the document no longer has this id. */
    DocumentInfo findAgain(long id) {
        DocumentInfo info = find(documents, name);
        if (info.id() != id) {
            throw notFound(name);
        }
        return info;
    }

    String nextCursor() {
        return StreamResponses.cursor(cursor);
    }

    /**
     * Sends the values from {@code from} up to, but not including, {@code info.nextSequence()}. Called on a reading
     * thread.
     */
    void send(DocumentInfo info, long from, Response head) {
        next = from;
        read(info, head);
    }

    /** Reads the next slice. Called on a reading thread. */
    private void read(DocumentInfo info, Response head) {
        SliceReader slice = new SliceReader(info, SLICE_BYTES, next, !begun);
        try {
            if (next < info.nextSequence() && !slice.read(this)) {
                if (!begun) {
                    // Nothing was sent yet, so the response can still report that the offset was trimmed.
                    offset.in(findAgain(info.id()));
                }
                throw SliceReader.changedDuringRead(name);
            }
            next = slice.nextSequence();
            boolean last = next == info.nextSequence();
            if (last) {
                slice.end();
            }
            exchange.onLoop(slice.bytes(), () -> send(info, head, slice.bytes(), last));
        } catch (Throwable problem) {
            slice.bytes().release();
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
            exchange.whenWritable(() -> exchange.read(() -> read(info, head)));
        }
    }

    /** Returns the document with this name. Throws {@link Problem} if it does not exist. */
    static DocumentInfo find(DocumentService documents, DocumentName name) {
        return required(documents.find(name), name);
    }

    static DocumentInfo required(@Nullable DocumentInfo info, DocumentName name) {
        if (info == null) {
            throw notFound(name);
        }
        return info;
    }

    static Problem notFound(DocumentName name) {
        return new Problem(404, "not_found", "document '" + name + "' does not exist");
    }
}
