package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ScanPage;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Query;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.Exchange;
import io.caravan.server.protocol.http.connection.Route;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Lists documents, in no order, a page at a time. A document that exists throughout is on exactly one page. Those that
 * the client may not read are left out.
 */
public final class DocumentList implements Route.Endpoint {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 1000;
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,19}");

    private final Endpoints endpoints;

    public DocumentList(Endpoints endpoints) {
        this.endpoints = endpoints;
    }

    @Override
    public void handle(Exchange exchange) {
        Query query = exchange.request().query();
        long cursor = number(query, "cursor", 0);
        int limit = (int) Math.min(MAX_LIMIT, number(query, "limit", DEFAULT_LIMIT));
        if (limit < 1) {
            throw Problem.badRequest("invalid_parameter", "limit must be 1 or more");
        }
        String prefix = query.get("prefix");
        byte[] start = prefix == null ? new byte[0] : prefix.getBytes(StandardCharsets.UTF_8);
        DocumentService documents = endpoints.readiness().documents();
        endpoints.read(
                exchange,
                () -> exchange.answer(
                        Answer.json(200, page(exchange.principal(), documents.scan(cursor, limit), start))));
    }

    private static long number(Query query, String name, long otherwise) {
        String value = query.get(name);
        if (value == null) {
            return otherwise;
        }
        try {
            if (NUMBER.matcher(value).matches()) {
                return Long.parseLong(value);
            }
        } catch (NumberFormatException tooGreat) {
            // Refused like what is not a number.
        }
        throw Problem.badRequest("invalid_parameter", name + " must be a number below 2^63");
    }

    private static Map<String, Object> page(Principal principal, ScanPage page, byte[] prefix) {
        List<Map<String, Object>> listed = page.documents().stream()
                .filter(found -> found.name().startsWith(prefix) && principal.may(Permission.READ, found.name()))
                .map(found -> entry(found.name(), found.info()))
                .toList();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("documents", listed);
        answer.put("cursor", page.next() == 0 ? null : Long.toString(page.next()));
        return answer;
    }

    private static Map<String, Object> entry(DocumentName name, DocumentInfo info) {
        DocumentAttributes attributes = info.attributes();
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("name", name.text());
        entry.put("path", StreamName.path(name));
        entry.put("contentType", attributes.contentType());
        entry.put("values", info.count());
        entry.put("firstOffset", Offset.of(info.firstSequence()));
        entry.put("nextOffset", Offset.of(info.nextSequence()));
        entry.put("closed", attributes.closed());
        attributes.ttlSeconds().ifPresent(seconds -> entry.put("ttlSeconds", seconds));
        attributes.expiresAtMillis().ifPresent(millis -> entry.put("expiresAt", StreamAnswers.rfc3339(millis)));
        return entry;
    }
}
