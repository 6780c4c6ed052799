package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends the values of several streams as server-sent events in one response, until all streams are closed or a time
 * limit is reached.
 */
final class LiveStreams extends LiveRead {
    /** The total size of events, in bytes, at which a check ends. */
    private static final int CHECK_BYTES = 64 * 1024;

    private static final int CHECK_STREAMS = 64;

    private static final byte[] DATA = ascii("event: data\ndata: ");
    private static final byte[] PROBLEM = ascii("event: problem\ndata: ");

    /** Maximum number of streams per connection; limited because each takes several hundred bytes of memory. */
    static final int MAX_STREAMS = 1_000;

    private static final String INVALID = "invalid_streams";

    LiveStreams(HttpExchange exchange, Map<DocumentName, Offset> starts) {
        super(exchange, CHECK_STREAMS);
        DocumentService documents = exchange.documents();
        starts.forEach((name, offset) -> streams.put(name, new StreamPosition(documents, name, offset)));
    }

    /** Sends the values of the streams until the time limit is reached or the server stops. */
    void start() {
        startEvents(events());
        start(exchange.protocol.config.eventStream());
    }

    @Override
    void check(List<DocumentName> names) {
        if (names.isEmpty()) {
            exchange.finish();
        } else {
            List<StreamPosition> some = names.stream().map(streams::get).toList();
            exchange.read(() -> readSome(some));
        }
    }

    private void readSome(List<StreamPosition> some) {
        ByteBuf events = HttpExchange.beginChunk();
        try {
            int checked = 0;
            while (checked < some.size() && events.readableBytes() < CHECK_BYTES) {
                putEvents(some.get(checked++), events);
            }
            if (events.isReadable()) {
                HttpExchange.endChunk(events);
            }
            send(events, events.capacity(), some.subList(0, checked), some.subList(checked, some.size()));
        } catch (Throwable broken) {
            events.release();
            throw broken;
        }
    }

    /** Adds an event with the new values of a stream, or with the reason why the stream ends. */
    private static void putEvents(StreamPosition stream, ByteBuf events) {
        try {
            putValues(stream, events);
        } catch (RuntimeException rejected) {
            stream.over = true;
            Map<String, Object> fields = Response.fields("path", StreamName.path(stream.name));
            fields.putAll(Problem.of(rejected).fields());
            put(events, PROBLEM, fields);
        }
    }

    private static void putValues(StreamPosition stream, ByteBuf events) {
        boolean first = !stream.known();
        DocumentInfo info = stream.get();
        List<byte[]> values = values(stream, info);
        stream.behind = stream.next < info.nextSequence();
        stream.over = !stream.behind && info.attributes().closed();
        if (first || stream.over || !values.isEmpty()) {
            List<String> texts = ContentTypes.isText(info.attributes().contentType()) ? texts(values) : null;
            boolean base64 = texts == null;
            put(
                    events,
                    DATA,
                    Response.present(
                            "path", StreamName.path(stream.name),
                            "base64", base64 ? true : null,
                            "values", base64 ? values : texts,
                            "nextOffset", Offset.of(stream.next),
                            "upToDate", stream.behind ? null : true,
                            "closed", stream.over ? true : null));
        }
    }

    /** Returns the next values, until their total size reaches {@link #CHECK_BYTES}. */
    private static List<byte[]> values(StreamPosition stream, DocumentInfo info) {
        List<byte[]> values = new ArrayList<>();
        if (stream.next < info.nextSequence()) {
            Offset.checkRetained(stream.next, info);
            long[] length = {0};
            stream.read(info, (sequence, value) -> {
                byte[] copy = new byte[value.remaining()];
                value.get(copy);
                values.add(copy);
                length[0] += Math.max(1, copy.length);
                return length[0] < CHECK_BYTES;
            });
            if (values.isEmpty()) {
                throw stream.changedDuringRead();
            }
            stream.next += values.size();
        }
        return values;
    }

    /** Returns the values as text, or null if a value is not UTF-8, for example because it ends within a character. */
    private static @Nullable List<String> texts(List<byte[]> values) {
        List<String> texts = new ArrayList<>(values.size());
        for (byte[] value : values) {
            String text = new String(value, UTF_8);
            if (!Arrays.equals(text.getBytes(UTF_8), value)) {
                return null;
            }
            texts.add(text);
        }
        return texts;
    }

    /** A body that lists streams to tail: <code>{"streams": [{"path": ..., "offset": ...}, ...]}</code>. */
    record Body(@Nullable List<Fields> streams) {}

    record Fields(@Nullable String path, @Nullable String offset) {}

    /** Returns the streams in a body, and the offsets at which to start. Throws {@link Problem} if it is invalid. */
    static Map<DocumentName, Offset> parse(byte[] body, JsonBody json) {
        List<Fields> given =
                JsonBody.elements(json.parse(body, Body.class, INVALID).streams(), "streams", MAX_STREAMS, INVALID);
        Map<DocumentName, Offset> starts = new LinkedHashMap<>();
        for (Fields fields : given) {
            String where = "stream " + (starts.size() + 1);
            DocumentName name = JsonBody.name(fields.path(), where, INVALID);
            Problem.require(
                    fields.offset() != null, INVALID, where + " must have an offset: one from a response, -1, or now");
            boolean first = starts.put(name, Offset.parse(fields.offset(), where + ": offset")) == null;
            Problem.require(first, INVALID, where + " occurs twice");
        }
        return starts;
    }
}
