package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Problem;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A body that lists streams to tail: <code>{"streams": [{"path": ..., "offset": ...}, ...]}</code>. */
record LiveBody(@Nullable List<Fields> streams) {
    /** Maximum number of streams per connection; limited because each takes several hundred bytes of memory. */
    static final int MAX_STREAMS = 1_000;

    private static final String INVALID = "invalid_streams";

    /** The JSON fields of a stream. */
    record Fields(@Nullable String path, @Nullable String offset) {}

    /** A stream to tail, and the offset at which to start. */
    record Start(DocumentName name, Offset offset) {}

    /**
     * Returns the streams in a body.
     *
     * @throws Problem if the body is malformed, or exceeds a limit
     */
    static List<Start> parse(byte[] body, JsonBody json) {
        List<Fields> given = json.parse(body, LiveBody.class, INVALID).streams();
        if (given == null || given.isEmpty()) {
            throw Problem.badRequest(INVALID, "streams must have at least one element");
        }
        if (given.size() > MAX_STREAMS) {
            throw new Problem(
                    413,
                    "too_many_streams",
                    "a connection follows at most " + MAX_STREAMS + " streams; follow more over another");
        }
        Map<DocumentName, Start> starts = new LinkedHashMap<>();
        for (Fields fields : given) {
            String where = "stream " + (starts.size() + 1);
            DocumentName name = JsonBody.name(fields.path(), where, INVALID);
            if (fields.offset() == null) {
                throw Problem.badRequest(INVALID, where + " must have an offset: one from a response, -1, or now");
            }
            if (starts.put(name, new Start(name, Offset.parse(fields.offset(), where + ": offset"))) != null) {
                throw Problem.badRequest(INVALID, where + " occurs twice");
            }
        }
        return List.copyOf(starts.values());
    }
}
