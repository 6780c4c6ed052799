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
import java.util.OptionalLong;
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

    /**
     * Returns a page of documents. With a {@code delimiter}, a name that contains it after the prefix is not listed,
     * but counted in a group: the start of the name, up to and including the delimiter.
     */
    static Response list(HttpExchange exchange) {
        Request request = exchange.request;
        DocumentService documents = exchange.documents();
        byte[] prefix = bytes(request.parameter("prefix"));
        byte[] delimiter = bytes(request.parameter("delimiter"));
        boolean sizes = request.flagParameter("sizes");
        ScanPage page = documents.scan(Cursor.of(request).position(), request.limit(DEFAULT_LIMIT, MAX_LIMIT));
        List<Map<String, Object>> listed = new ArrayList<>();
        Map<String, Long> groups = new TreeMap<>();
        for (ScanPage.Found found : page.documents()) {
            DocumentName name = found.name();
            if (name.startsWith(prefix) && exchange.principal.may(Permission.READ, name)) {
                String group = group(name.toBytes(), prefix.length, delimiter);
                if (group != null) {
                    groups.merge(group, 1L, Long::sum);
                } else {
                    listed.add(entry(documents, name, found.info(), sizes));
                }
            }
        }
        Map<String, Object> response = Response.fields("documents", listed);
        if (delimiter.length > 0) {
            response.put("prefixes", groups);
        }
        response.put("run", documents.run());
        response.put("incomplete", documents.incomplete());
        response.put("cursor", Cursor.text(exchange.protocol.cluster, page.next()));
        return Response.json(200, response);
    }

    private static byte[] bytes(@Nullable String text) {
        return text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the group of names in which a name is counted, or null if the name is listed individually. */
    private static @Nullable String group(byte[] name, int prefixBytes, byte[] delimiter) {
        for (int end = prefixBytes + delimiter.length; delimiter.length > 0 && end <= name.length; end++) {
            if (Arrays.equals(name, end - delimiter.length, end, delimiter, 0, delimiter.length)) {
                return DocumentName.of(Arrays.copyOf(name, end)).text();
            }
        }
        return null;
    }

    private static Map<String, Object> entry(
            DocumentService documents, DocumentName name, DocumentInfo info, boolean sizes) {
        DocumentAttributes attributes = info.attributes();
        OptionalLong ttl = attributes.ttlSeconds();
        OptionalLong expiry = attributes.expiresAtMillis();
        return Response.present(
                "name", name.text(),
                "path", StreamName.path(name),
                "contentType", attributes.contentType(),
                "values", info.count(),
                "bytes", sizes ? documents.bytes(name, info) : null,
                "firstOffset", Offset.of(info.firstSequence()),
                "nextOffset", Offset.of(info.nextSequence()),
                "closed", attributes.closed(),
                "durability", documents.spaces().durability(name).word(),
                "ttlSeconds", ttl.isPresent() ? ttl.getAsLong() : null,
                "expiresAt", expiry.isPresent() ? Response.rfc3339(expiry.getAsLong()) : null);
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
        static Cursor of(Request request) {
            String text = request.parameter("cursor");
            if (text == null) {
                return new Cursor(0, 0);
            }
            int dash = text.indexOf('-');
            long slot = dash < 0 ? 0 : Request.parse(text.substring(0, dash));
            long position = Request.parse(text.substring(dash + 1));
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
