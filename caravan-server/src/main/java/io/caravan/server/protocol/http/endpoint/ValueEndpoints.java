package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Query;
import io.caravan.server.protocol.http.codec.Response;
import io.caravan.server.protocol.http.connection.HttpExchange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The endpoint that returns values separately, whereas a read of a stream concatenates values that are not JSON. */
public final class ValueEndpoints {
    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_LIMIT = 1_000;
    /** The length to which values are truncated, unless the client requests complete values. */
    private static final int SHOWN_BYTES = 64 * 1024;
    /** The total size of returned values, in bytes, at which a page ends. */
    private static final int PAGE_BYTES = 256 * 1024;

    private final Endpoints endpoints;

    public ValueEndpoints(Endpoints endpoints) {
        this.endpoints = endpoints;
    }

    /** Returns a page of values, or, with the {@code raw} parameter, the bytes of one value. */
    public void values(HttpExchange exchange) {
        Query query = exchange.request().query();
        DocumentName name = exchange.documentName();
        Offset offset = Offset.parse(query.get("offset"), "offset");
        int limit = (int) Math.min(MAX_LIMIT, DocumentList.number(query, "limit", DEFAULT_LIMIT));
        if (limit < 1) {
            throw Problem.badRequest("invalid_parameter", "limit must be 1 or more");
        }
        boolean newest = "true".equals(query.get("newest"));
        int shownBytes = "true".equals(query.get("whole")) ? Integer.MAX_VALUE : SHOWN_BYTES;
        DocumentService documents = endpoints.readiness().documents();
        if ("true".equals(query.get("raw"))) {
            endpoints.read(exchange, () -> exchange.respond(raw(documents, name, offset)));
        } else {
            endpoints.read(
                    exchange,
                    () -> exchange.respond(
                            Response.json(200, page(documents, name, offset, limit, newest, shownBytes))));
        }
    }

    private static Response raw(DocumentService documents, DocumentName name, Offset offset) {
        ReadRequest.find(documents, name);
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
        Page page = new Page(ReadRequest.find(documents, name), shownBytes);
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
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("offset", Offset.of(sequence));
            entry.put("sequence", sequence);
            entry.put("bytes", length);
            entry.put("base64", Base64.getEncoder().encodeToString(shown));
            values.add(entry);
            next = sequence + 1;
            bytes += shown.length;
            return bytes < PAGE_BYTES;
        }

        Map<String, Object> json(DocumentService documents, DocumentName name) {
            Map<String, Object> response = new LinkedHashMap<>();
            response.put("id", info.id());
            response.put("contentType", info.attributes().contentType());
            response.put("closed", info.attributes().closed());
            response.put("archived", info.archived());
            response.put("bytes", documents.bytes(name, info));
            response.put("firstSequence", info.firstSequence());
            response.put("nextSequence", info.nextSequence());
            response.put("firstOffset", Offset.of(info.firstSequence()));
            response.put("nextOffset", Offset.of(info.nextSequence()));
            response.put("continueAt", Offset.of(next));
            response.put("values", values);
            return response;
        }
    }
}
