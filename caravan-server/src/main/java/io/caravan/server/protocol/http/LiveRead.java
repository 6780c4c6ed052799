package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ChangeWait;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A read that waits for new values of streams. A check reads the values of some of the streams that have changed, on a
 * reading thread. If the response consists of server-sent events, {@link #send} sends the events of a check, and starts
 * the next check when the client has received them. Checks and the event loop take turns using the fields.
 */
abstract class LiveRead {
    /**
     * A comment that is sent between events, because most proxies close a response that is idle for a minute. Clients
     * ignore comments. Other writes consist of complete events, so a comment never splits an event. The comment is an
     * encoded chunk.
     */
    private static final ByteBuf COMMENT = Unpooled.unreleasableBuffer(
                    Unpooled.copiedBuffer("3\r\n:\n\n\r\n", StandardCharsets.US_ASCII))
            .asReadOnly();

    private static final byte[] END = ascii("\n\n");

    final HttpExchange exchange;
    final ChangeWait wait;
    /** The streams that have not ended, which the constructor of the subclass adds. */
    final Map<DocumentName, StreamPosition> streams = new LinkedHashMap<>();

    /** Creates a read that has not started, with at most {@code most} documents in one check. */
    LiveRead(HttpExchange exchange, int most) {
        this.exchange = exchange;
        this.wait = new ChangeWait(exchange.loop(), most, exchange.documents()::onChange, this::check, () -> {});
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Checks these documents for new values. The final check receives no documents, and must finish the response. */
    abstract void check(List<DocumentName> names);

    /** Starts the first check of the streams. The final check runs after {@code limit} or when the server stops. */
    final void start(Duration limit) {
        exchange.waitForValues(wait::expire);
        exchange.atEnd(wait::close);
        wait.begin(streams.keySet(), limit, wait::expire);
    }

    /** Returns the head of the response with events. The head asks proxies not to buffer the events. */
    static Response events() {
        return new Response(200)
                .header("Content-Type", "text/event-stream")
                .header("Cache-Control", "no-cache")
                .header("X-Accel-Buffering", "no");
    }

    /** Starts a response with events, and sends comments between them until the exchange ends. */
    final void startEvents(Response head) {
        exchange.start(head);
        Duration heartbeat = exchange.protocol.config.heartbeat();
        if (heartbeat.isZero() || exchange.over) {
            return;
        }
        long nanos = heartbeat.toNanos();
        Runnable comment = () -> {
            if (exchange.writable()) {
                exchange.writeChunk(COMMENT.duplicate());
            }
        };
        Future<?> timer = exchange.loop().scheduleAtFixedRate(comment, nanos, nanos, TimeUnit.NANOSECONDS);
        exchange.atEnd(() -> timer.cancel(false));
    }

    /** Adds an event whose data is a JSON object. {@code kind} ends where the object begins. */
    static void put(ByteBuf events, byte[] kind, Map<String, Object> fields) {
        events.writeBytes(kind).writeBytes(Response.jsonBytes(fields)).writeBytes(END);
    }

    /**
     * Sends the events of a check, and releases them. Then waits for changes, or finishes the response if all streams
     * have ended. Called on a reading thread.
     *
     * @param events an encoded chunk, or nothing
     * @param heldBytes the memory of the events that counts for this client
     * @param checked the checked streams
     * @param later changed streams that were not checked yet
     */
    final void send(ByteBuf events, int heldBytes, List<StreamPosition> checked, List<StreamPosition> later) {
        exchange.onLoop(events, heldBytes, () -> {
            if (events.isReadable()) {
                exchange.writeChunk(events);
            } else {
                events.release();
            }
            List<DocumentName> again = new ArrayList<>();
            later.forEach(stream -> again.add(stream.name));
            for (StreamPosition stream : checked) {
                if (stream.over) {
                    wait.forget(stream.name);
                    streams.remove(stream.name);
                } else if (stream.behind) {
                    again.add(stream.name);
                }
            }
            exchange.whenWritable(() -> {
                if (streams.isEmpty()) {
                    exchange.finish();
                } else {
                    wait.checked(again);
                }
            });
        });
    }
}
