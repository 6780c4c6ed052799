package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ContentTypes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends the values of several streams as server-sent events in one response, until all streams are closed or a time
 * limit is reached.
 *
 * <p>A check reads some of the changed streams on a reading thread. The next check starts when the client has received
 * the events of the previous one.
 */
final class LiveStreams extends LiveRead {
    /** The total size of events, in bytes, at which a check ends. */
    private static final int CHECK_BYTES = 64 * 1024;

    private static final int CHECK_STREAMS = 64;

    private static final byte[] DATA = ascii("event: data\ndata: ");
    private static final byte[] PROBLEM = ascii("event: problem\ndata: ");
    private static final byte[] END = ascii("\n\n");

    /** Maximum number of streams per connection; limited because each takes several hundred bytes of memory. */
    static final int MAX_STREAMS = 1_000;

    private static final String INVALID = "invalid_streams";

    private final Map<DocumentName, Tailed> tailed = new LinkedHashMap<>();

    LiveStreams(HttpExchange exchange, Map<DocumentName, Offset> starts) {
        super(exchange, exchange.documents(), CHECK_STREAMS);
        DocumentService documents = exchange.documents();
        starts.forEach((name, offset) -> tailed.put(name, new Tailed(documents, name, offset)));
    }

    /** Sends the values of the streams until the time limit is reached or the server stops. */
    void start() {
        startEvents(events());
        start(tailed.keySet(), exchange.protocol.config.eventStream());
    }

    @Override
    void check(List<DocumentName> names) {
        if (names.isEmpty()) {
            exchange.finish();
        } else {
            List<Tailed> some = names.stream().map(tailed::get).toList();
            exchange.read(() -> readSome(some));
        }
    }

    private void readSome(List<Tailed> some) {
        ByteBuf events = ByteBufAllocator.DEFAULT.ioBuffer();
        try {
            int checked = 0;
            while (checked < some.size() && events.readableBytes() < CHECK_BYTES) {
                some.get(checked++).putEvents(events);
            }
            int done = checked;
            exchange.onLoop(
                    events,
                    events.capacity(),
                    () -> send(events, some.subList(0, done), some.subList(done, some.size())));
        } catch (Throwable broken) {
            events.release();
            throw broken;
        }
    }

    private void send(ByteBuf events, List<Tailed> checked, List<Tailed> later) {
        List<DocumentName> again = new ArrayList<>();
        later.forEach(stream -> again.add(stream.name));
        for (Tailed stream : checked) {
            if (stream.over) {
                wait.forget(stream.name);
                tailed.remove(stream.name);
            } else if (stream.behind) {
                again.add(stream.name);
            }
        }
        if (events.isReadable()) {
            exchange.write(events);
        } else {
            events.release();
        }
        exchange.whenWritable(() -> {
            if (tailed.isEmpty()) {
                exchange.finish();
            } else {
                wait.checked(again);
            }
        });
    }

    /** A tailed stream. Checks and the event loop take turns using its fields. */
    private static final class Tailed extends StreamPosition {
        private boolean behind;
        private boolean over;

        Tailed(DocumentService documents, DocumentName name, Offset offset) {
            super(documents, name, offset);
        }

        /** Adds an event with the new values, or with the reason why the stream ends. */
        void putEvents(ByteBuf events) {
            try {
                putValues(events);
            } catch (RuntimeException rejected) {
                over = true;
                Map<String, Object> fields = Response.fields("path", StreamName.path(name));
                fields.putAll(Problem.of(rejected).fields());
                put(events, PROBLEM, fields);
            }
        }

        private void putValues(ByteBuf events) {
            boolean first = !known();
            DocumentInfo info = get();
            List<byte[]> values = values(info);
            behind = next < info.nextSequence();
            over = !behind && info.attributes().closed();
            if (first || over || !values.isEmpty()) {
                put(events, DATA, fields(info, values));
            }
        }

        /** Returns the next values, until their total size reaches {@link #CHECK_BYTES}. */
        private List<byte[]> values(DocumentInfo info) {
            List<byte[]> values = new ArrayList<>();
            if (next < info.nextSequence()) {
                Offset.checkRetained(next, info);
                long[] length = {0};
                read(info, (sequence, value) -> {
                    byte[] copy = new byte[value.remaining()];
                    value.get(copy);
                    values.add(copy);
                    length[0] += Math.max(1, copy.length);
                    return length[0] < CHECK_BYTES;
                });
                if (values.isEmpty()) {
                    throw changedDuringRead();
                }
                next += values.size();
            }
            return values;
        }

        private Map<String, Object> fields(DocumentInfo info, List<byte[]> values) {
            List<String> texts = ContentTypes.isText(info.attributes().contentType()) ? texts(values) : null;
            boolean base64 = texts == null;
            return Response.present(
                    "path", StreamName.path(name),
                    "base64", base64 ? true : null,
                    "values", base64 ? values : texts,
                    "nextOffset", Offset.of(next),
                    "upToDate", behind ? null : true,
                    "closed", over ? true : null);
        }
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

    private static void put(ByteBuf events, byte[] kind, Map<String, Object> fields) {
        events.writeBytes(kind).writeBytes(Response.jsonBytes(fields)).writeBytes(END);
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
