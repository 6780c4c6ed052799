package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.Slots;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ScanPage;
import io.caravan.server.security.Permission;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Lists documents in pages, in no particular order. A document that exists during the entire listing is on exactly one
 * page. Documents that the client may not read are omitted. In a cluster of several Raft groups, a page contains
 * documents of only one group.
 */
final class DocumentList {
    public static final String OPERATION = "listDocuments";

    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 1000;

    private DocumentList() {}

    static void list(HttpExchange exchange) {
        Query query = exchange.request.query;
        Cursor cursor = Cursor.of(query);
        int limit = query.limit(DEFAULT_LIMIT, MAX_LIMIT);
        Wanted wanted = new Wanted(bytes(query.get("prefix")), bytes(query.get("delimiter")), query.flag("sizes"));
        DocumentService documents = exchange.documents();
        exchange.respond(() -> Response.json(200, page(exchange, documents, cursor.position(), limit, wanted)));
    }

    /**
     * The documents that a request selects.
     *
     * @param prefix the prefix of the names
     * @param delimiter the delimiter, or empty for none. A name that contains the delimiter after the prefix is not
     *     listed, but counted in a group: the start of the name, up to and including the delimiter
     * @param sizes whether to return the size of each document
     */
    private record Wanted(byte[] prefix, byte[] delimiter, boolean sizes) {
        /** Returns the group of names in which a name is counted, or null if the name is listed individually. */
        @Nullable
        String group(DocumentName name) {
            if (delimiter.length == 0) {
                return null;
            }
            byte[] bytes = name.toBytes();
            for (int at = prefix.length; at + delimiter.length <= bytes.length; at++) {
                int end = at + delimiter.length;
                if (Arrays.equals(bytes, at, end, delimiter, 0, delimiter.length)) {
                    return DocumentName.of(Arrays.copyOf(bytes, end)).text();
                }
            }
            return null;
        }
    }

    private static byte[] bytes(@Nullable String text) {
        return text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    }

    private static Map<String, Object> page(
            HttpExchange exchange, DocumentService documents, long cursor, int limit, Wanted wanted) {
        ScanPage page = documents.scan(cursor, limit);
        List<Map<String, Object>> listed = new ArrayList<>();
        Map<String, Long> groups = new TreeMap<>();
        for (ScanPage.Found found : page.documents()) {
            if (found.name().startsWith(wanted.prefix()) && exchange.principal.may(Permission.READ, found.name())) {
                String group = wanted.group(found.name());
                if (group != null) {
                    groups.merge(group, 1L, Long::sum);
                } else {
                    listed.add(entry(documents, found.name(), found.info(), wanted.sizes()));
                }
            }
        }
        Map<String, Object> response = Response.fields("documents", listed);
        if (wanted.delimiter().length > 0) {
            response.put("prefixes", groups);
        }
        response.put("run", documents.run());
        response.put("incomplete", documents.incomplete());
        response.put("cursor", Cursor.text(exchange.protocol.cluster, page.next()));
        return response;
    }

    private static Map<String, Object> entry(
            DocumentService documents, DocumentName name, DocumentInfo info, boolean sizes) {
        DocumentAttributes attributes = info.attributes();
        Map<String, Object> entry = Response.fields(
                "name", name.text(),
                "path", StreamName.path(name),
                "contentType", attributes.contentType(),
                "values", info.count());
        if (sizes) {
            entry.put("bytes", documents.bytes(name, info));
        }
        entry.put("firstOffset", Offset.of(info.firstSequence()));
        entry.put("nextOffset", Offset.of(info.nextSequence()));
        entry.put("closed", attributes.closed());
        entry.put("durability", documents.spaces().durability(name).word());
        attributes.ttlSeconds().ifPresent(seconds -> entry.put("ttlSeconds", seconds));
        attributes.expiresAtMillis().ifPresent(millis -> entry.put("expiresAt", Response.rfc3339(millis)));
        return entry;
    }

    /**
     * The position at which a listing of documents continues. In a cluster of several Raft groups, a listing contains
     * one group after another.
     *
     * @param slot a slot of the group in which the listing continues
     * @param position the position in the group; 0 for the beginning
     */
    record Cursor(int slot, long position) {
        /** Returns the cursor of a request, or the beginning. Throws {@link Problem} if the cursor is invalid. */
        static Cursor of(Query query) {
            String text = query.get("cursor");
            if (text == null) {
                return new Cursor(0, 0);
            }
            int dash = text.indexOf('-');
            long slot = dash < 0 ? 0 : Query.parse(text.substring(0, dash));
            long position = Query.parse(text.substring(dash + 1));
            boolean valid = slot >= 0 && slot < Slots.COUNT && position >= 0;
            Problem.require(valid, "invalid_parameter", "cursor must be one from a response");
            return new Cursor((int) slot, position);
        }

        /**
         * Returns the cursor that a client sends to continue, or null at the end of the listing.
         *
         * @param cluster the cluster of this node, whose group was listed; null if the node is not part of a cluster
         * @param next the position at which the listing of this group continues; 0 if it is complete
         */
        static @Nullable String text(@Nullable Cluster cluster, long next) {
            if (cluster == null || cluster.groups().size() == 1) {
                return next == 0 ? null : Long.toString(next);
            }
            int slot = next == 0
                    ? cluster.group().slots().last() + 1
                    : cluster.group().slots().first();
            return slot == Slots.COUNT ? null : slot + "-" + next;
        }
    }
}
