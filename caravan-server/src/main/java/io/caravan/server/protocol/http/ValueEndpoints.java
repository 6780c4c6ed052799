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
    static Response values(HttpExchange exchange) {
        Request request = exchange.request;
        DocumentName name = exchange.documentName();
        Offset offset = Offset.parse(request.parameter("offset"), "offset");
        int limit = request.limit(DEFAULT_LIMIT, MAX_LIMIT);
        boolean newest = request.flagParameter("newest");
        DocumentService documents = exchange.documents();
        DocumentInfo found = StreamPosition.find(documents, name);
        if (request.flagParameter("raw")) {
            return raw(documents, name, offset);
        }
        Page page = new Page(found, request.flagParameter("whole") ? Integer.MAX_VALUE : SHOWN_BYTES);
        documents.read(
                name,
                info -> {
                    page.info = info;
                    page.next = newest ? Math.max(info.firstSequence(), info.nextSequence() - limit) : offset.in(info);
                    return new SequenceRange(page.next, Math.min(info.nextSequence(), page.next + limit));
                },
                page);
        return page.response(documents, name);
    }

    private static Response raw(DocumentService documents, DocumentName name, Offset offset) {
        byte[] value = documents.value(name, info -> {
            long from = offset.in(info);
            return new SequenceRange(from, Math.min(info.nextSequence(), from + 1));
        });
        if (value == null) {
            throw new Problem(404, "not_found", "document '" + name + "' has no value at this offset yet");
        }
        return new Response(200).uncached().body("application/octet-stream", value);
    }

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

        Response response(DocumentService documents, DocumentName name) {
            return Response.json(
                    200,
                    Response.fields(
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
                            "values", values));
        }
    }
}
