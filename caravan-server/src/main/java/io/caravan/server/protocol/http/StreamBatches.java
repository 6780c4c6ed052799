package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.AppendRequest;
import io.caravan.server.document.DocumentEdits;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.Prefetch;
import io.caravan.server.security.Permission;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The endpoint for atomic writes to several streams. */
final class StreamBatches {
    public static final String OPERATION = "writeBatch";

    /** Maximum number of operations in a batch; limited because each operation locks a name. */
    static final int MAX_OPERATIONS = 1_000;

    private static final String INVALID = "invalid_batch";

    private StreamBatches() {}

    /** Applies the operations in the body, in order, as one write. */
    static void change(HttpExchange exchange) {
        // Parsing and validating JSON may take a long time.
        exchange.writeApart(List.of(), documents -> {
            long maxBatchBytes = exchange.protocol.config.maxBatchBytes();
            List<Operation> operations = parse(exchange.request.body, exchange.protocol.json, maxBatchBytes);
            Set<DocumentName> names = new LinkedHashSet<>();
            operations.forEach(operation -> names.add(operation.name()));
            names.forEach(name -> exchange.require(Permission.WRITE, name));
            Function<DocumentEdits, List<Map<String, Object>>> change = edits -> apply(operations, edits);
            Outcome<List<Map<String, Object>>> outcome =
                    exchange.outcome(names, results -> Response.json(200, Map.of("operations", results)));
            documents.write(names, change, new Prefetch(maxBatchBytes), outcome);
        });
    }

    private static List<Map<String, Object>> apply(List<Operation> operations, DocumentEdits edits) {
        List<Map<String, Object>> results = new ArrayList<>(operations.size());
        for (Operation operation : operations) {
            try {
                results.add(operation.apply().apply(edits.document(operation.name())));
            } catch (DocumentException | Problem rejected) {
                int number = results.size() + 1;
                throw Problem.of(rejected).about("nothing was written, because of operation " + number + ": ");
            }
        }
        return results;
    }

    /** The body of a batch: <code>{"operations": [{"path": ..., "append": [...]}, ...]}</code>. */
    record Body(@Nullable List<Fields> operations) {}

    record Fields(
            @Nullable String path,
            @Nullable List<String> append,
            boolean base64,
            @Nullable String ifOffset,
            @Nullable String trim,
            boolean delete) {}

    /** A write to one stream. The function performs the write, and returns the resulting state of the stream. */
    record Operation(DocumentName name, Function<EditedDocument, Map<String, Object>> apply) {}

    private static Map<String, Object> result(DocumentName name, DocumentInfo info) {
        return Response.fields(
                "path", StreamName.path(name),
                "firstOffset", Offset.of(info.firstSequence()),
                "nextOffset", Offset.of(info.nextSequence()));
    }

    /**
     * Returns the operations in a body. Throws {@link Problem} if the body is malformed, or exceeds a limit, such as
     * {@code maxBatchBytes} for the size of all values in the log, including an overhead for each value.
     */
    static List<Operation> parse(byte[] body, JsonBody json, long maxBatchBytes) {
        List<Fields> given = JsonBody.elements(
                json.parse(body, Body.class, INVALID).operations(), "operations", MAX_OPERATIONS, INVALID);
        List<Operation> operations = new ArrayList<>(given.size());
        long bytes = 0;
        for (Fields fields : given) {
            bytes += logBytes(fields);
            if (bytes > maxBatchBytes) {
                throw new Problem(
                        413,
                        "too_many_messages",
                        "the values of a batch may have " + maxBatchBytes
                                + " bytes in total, of which each value takes "
                                + StreamWrites.MESSAGE_OVERHEAD_BYTES
                                + " in addition to its length; send them in several");
            }
            operations.add(operation(fields, "operation " + (operations.size() + 1)));
        }
        return operations;
    }

    /** Returns the bytes that the values of an operation take in the log. Values in Base64 count as they were sent. */
    private static long logBytes(Fields fields) {
        List<String> append = fields.append() == null ? List.of() : fields.append();
        return append.stream()
                .mapToLong(value -> StreamWrites.MESSAGE_OVERHEAD_BYTES + ByteBufUtil.utf8Bytes(value))
                .sum();
    }

    private static Operation operation(Fields fields, String where) {
        List<String> append = fields.append();
        String trim = fields.trim();
        String ifOffset = fields.ifOffset();
        int kinds = (append == null ? 0 : 1) + (trim == null ? 0 : 1) + (fields.delete() ? 1 : 0);
        Problem.require(kinds == 1, INVALID, where + " must have exactly one of append, trim, and delete");
        Problem.require(
                append != null || ifOffset == null && !fields.base64(),
                INVALID,
                where + ": ifOffset and base64 need append");
        DocumentName name = JsonBody.name(fields.path(), where, INVALID);
        if (append != null) {
            Problem.require(!append.isEmpty(), INVALID, where + ": append must have at least one value");
            OptionalLong sequence = ifOffset == null
                    ? OptionalLong.empty()
                    : OptionalLong.of(Offset.sequence(ifOffset, where + ": ifOffset"));
            List<byte[]> values = new ArrayList<>(append.size());
            for (String text : append) {
                byte[] value = utf8(text, where);
                values.add(fields.base64() ? decoded(value, where) : value);
            }
            AppendRequest request = new AppendRequest(name, values, false, null, null, null, sequence);
            return new Operation(
                    name, document -> result(name, request.applyTo(document).info()));
        }
        if (trim != null) {
            Offset to = Offset.parse(trim, where + ": trim");
            return new Operation(name, document -> result(name, StreamWrites.trim(document, to)));
        }
        return new Operation(name, document -> {
            if (!document.delete()) {
                throw StreamPosition.notFound(name);
            }
            return Response.fields("path", StreamName.path(name), "deleted", true);
        });
    }

    private static byte[] utf8(String text, String where) {
        byte[] value = text.getBytes(UTF_8);
        if (!new String(value, UTF_8).equals(text)) {
            throw Problem.badRequest(
                    INVALID,
                    where + ": a value is not text, because it has half a surrogate pair; send it with base64");
        }
        return value;
    }

    private static byte[] decoded(byte[] text, String where) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException notBase64) {
            throw Problem.badRequest(INVALID, where + ": a value is not base64: " + notBase64.getMessage());
        }
    }
}
