package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Problem;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A body that lists streams to tail: <code>{"streams": [{"path": ..., "offset": ...}, ...]}</code>. */
final class LiveBody extends JsonBody<LiveBody.Start> {
    /** Maximum number of streams of one connection. A stream takes several hundred bytes while it is tailed. */
    static final int MAX_STREAMS = 1_000;

    private final Set<DocumentName> names = new HashSet<>();

    /** A stream, and the offset at which to start. */
    record Start(DocumentName name, Offset offset) {}

    private LiveBody(byte[] body) {
        super(parser(body), "streams", "stream", "invalid_streams");
    }

    /**
     * Returns the streams in a body.
     *
     * @throws Problem if the body is malformed, or exceeds a limit
     */
    static List<Start> parse(byte[] body) {
        return new LiveBody(body)
                .read(
                        MAX_STREAMS,
                        new Problem(
                                413,
                                "too_many_streams",
                                "a connection tails at most " + MAX_STREAMS + " streams; use another one for more"));
    }

    @Override
    Start element() throws IOException {
        String path = null;
        String offset = null;
        for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
            json.nextToken();
            switch (field) {
                case PATH -> path = string(field);
                case "offset" -> offset = string(field);
                default -> throw unknown(field);
            }
        }
        return start(name(path), offset);
    }

    private Start start(DocumentName name, @Nullable String offset) {
        require(offset != null, where() + " must have an offset: one from a response, or -1, or now");
        require(names.add(name), where() + " is listed twice");
        return new Start(name, Offset.parse(offset, where() + ": offset"));
    }
}
