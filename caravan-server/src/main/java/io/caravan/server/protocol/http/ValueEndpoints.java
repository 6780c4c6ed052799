package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.SequenceRange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** The endpoint that returns values separately, whereas a read of a stream concatenates values that are not JSON. */
final class ValueEndpoints {
    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_LIMIT = 1_000;
    /** The length to which values are truncated, unless the client requests complete values. */
    private static final int SHOWN_BYTES = 64 * 1024;
    /** The total size of returned values, in bytes, at which a page ends. */
    private static final int PAGE_BYTES = 256 * 1024;

    private ValueEndpoints() {}

    /** Returns a page of values, or, with the {@code raw} parameter, the bytes of one value. */
    static void values(HttpExchange exchange) {
        Query query = exchange.request.query;
        DocumentName name = exchange.documentName();
        Offset offset = Offset.parse(query.get("offset"), "offset");
        int limit = query.limit(DEFAULT_LIMIT, MAX_LIMIT);
        boolean newest = query.flag("newest");
        int shownBytes = query.flag("whole") ? Integer.MAX_VALUE : SHOWN_BYTES;
        DocumentService documents = exchange.documents();
        if (query.flag("raw")) {
            exchange.respond(() -> raw(documents, name, offset));
        } else {
            exchange.respond(() -> Response.json(200, page(documents, name, offset, limit, newest, shownBytes)));
        }
    }

    private static Response raw(DocumentService documents, DocumentName name, Offset offset) {
        StreamPosition.find(documents, name);
        byte[] value = documents.value(name, info -> {
            long from = offset.in(info);
            return new SequenceRange(from, Math.min(info.nextSequence(), from + 1));
        });
        if (value == null) {
            throw new Problem(404, "not_found", "document '" + name + "' has no value at this offset yet");
        }
        return new Response(200).uncached().body("application/octet-stream", value);
    }

    private static Map<String, Object> page(
            DocumentService documents, DocumentName name, Offset offset, int limit, boolean newest, int shownBytes) {
        Page page = new Page(StreamPosition.find(documents, name), shownBytes);
        documents.read(
                name,
                info -> {
                    page.info = info;
                    long from = newest ? Math.max(info.firstSequence(), info.nextSequence() - limit) : offset.in(info);
                    page.next = from;
                    return new SequenceRange(from, Math.min(info.nextSequence(), from + limit));
                },
                page);
        return page.json(documents, name);
    }

    /** Collects the values of a page. */
    private static final class Page implements DocumentReader {
        private final List<Map<String, Object>> values = new ArrayList<>();
        private final int shownBytes;
        private DocumentInfo info;
        private long next;
        private int bytes;

        Page(DocumentInfo info, int shownBytes) {
            this.info = info;
            this.shownBytes = shownBytes;
        }

        @Override
        public boolean next(long sequence, long millis, ByteBuffer value) {
            boolean more = next(sequence, value);
            values.get(values.size() - 1).put("time", millis);
            return more;
        }

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            int length = value.remaining();
            byte[] shown = new byte[Math.min(length, shownBytes)];
            value.get(shown);
            String base64 = Base64.getEncoder().encodeToString(shown);
            values.add(Response.fields(
                    "offset", Offset.of(sequence), "sequence", sequence, "bytes", length, "base64", base64));
            next = sequence + 1;
            bytes += shown.length;
            return bytes < PAGE_BYTES;
        }

        Map<String, Object> json(DocumentService documents, DocumentName name) {
            return Response.fields(
                    "id", info.id(),
                    "contentType", info.attributes().contentType(),
                    "closed", info.attributes().closed(),
                    "archived", info.archived(),
                    "bytes", documents.bytes(name, info),
                    "firstSequence", info.firstSequence(),
                    "nextSequence", info.nextSequence(),
                    "firstOffset", Offset.of(info.firstSequence()),
                    "nextOffset", Offset.of(info.nextSequence()),
                    "continueAt", Offset.of(next),
                    "values", values);
        }
    }
}
